import { Option } from "commander";

import type { InputField, InputFields } from "../../web/input.ts";

import { argument, helpOf, wholeNumber } from "./arguments.ts";

/** What Commander has read, by its own names. */
export type FieldOptions = Readonly<Record<string, unknown>>;

/** The options for the fields of a request that have one. */
export function optionsOf(fields: InputFields): readonly Option[] {
  return Object.values(fields).flatMap((field) => optionOf(field) ?? []);
}

/** The fields that were given as options. */
export function fieldsIn(options: FieldOptions, fields: InputFields): FieldOptions {
  const given = Object.entries(fields).map(([name, field]) => {
    const option = optionOf(field);
    return [name, option && options[option.attributeName()]] as const;
  });
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

function optionOf(field: InputField): Option | undefined {
  if (field.option === undefined) return undefined;
  const option = new Option(field.option, helpOf(field.description));
  // The server checks the limits.
  return field.type === "integer" ? option.argParser(argument(wholeNumber(9_999))) : option;
}
