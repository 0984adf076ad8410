import { type Command, Option } from "commander";

import type { Filters } from "../../base/filters.ts";
import { byBrand } from "../../inbound/providers/brand.ts";
import { catalogue } from "../../inbound/providers/catalogue.ts";

import { argument, helpOf } from "./arguments.ts";
import { pastTime } from "./durations.ts";

/** The given filters, as the API takes them. */
export type GivenFilters<Defined extends Filters> = {
  readonly [Name in keyof Defined]?: string;
};

/** Adds an option for each filter. */
export function withFilters(command: Command, defined: Filters): Command {
  for (const [name, filter] of Object.entries(defined)) command.addOption(optionOf(name, filter));
  return command;
}

/** `--idempotency-key` */
export function flagOf(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function optionOf(name: string, filter: Filters[string]): Option {
  const { kind, label, description, example } = filter;
  const value = kind === "instant" ? "time" : (label.toLowerCase().split(" ").at(-1) ?? "");
  const times = kind === "instant" ? ": 2h, 7d or 2026-11-21T09:00:00Z" : "";
  const such = example === undefined ? "" : `, such as '${example}'`;
  const help = `${helpOf(description)}${times}${such}`;
  const option = new Option(`${flagOf(name)} <${value}>`, help);
  if (kind === "instant") return option.argParser(argument(pastTime));
  // The server knows ids only; `github` is what people type.
  if (name === "provider") return option.argParser((text) => byBrand(text, catalogue)?.id ?? text);
  return kind === "word" ? option.choices(filter.words) : option;
}

/** Those of `options` that are filters. */
export function filtersIn<const Defined extends Filters>(
  defined: Defined,
  options: GivenFilters<Defined>,
): Readonly<Record<string, string>> {
  const given = Object.keys(defined).map((name) => [name, options[name]] as const);
  return Object.fromEntries(
    given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
