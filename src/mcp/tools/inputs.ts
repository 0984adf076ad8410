import { Kind, type TObject, type TOptional, type TString, Type } from "@sinclair/typebox";

import { decodeCursor } from "../../base/cursor.ts";
import type { Filters } from "../../base/filters.ts";
import { defaultLimit, maxLimit, type Position } from "../../base/page.ts";
import { filterParameters } from "../../web/filters.schema.ts";
import { text } from "../../web/schema.ts";

export const shortText = (description: string, ...examples: readonly string[]) =>
  Type.String({ ...text(description, ...examples), minLength: 1, maxLength: 200 });

/** The filters of a list: any texts, which `readFilters` reads. */
export function filterInput<const Defined extends Filters>(defined: Defined) {
  const parameters = Object.entries(filterParameters(defined));
  // Of an instant, the schema checks that it is a `Date`.
  const texts = parameters.map(([name, schema]) => [name, { ...schema, [Kind]: "Word" }]);
  // Guarantee: Object.entries has the names of the definition.
  return Object.fromEntries(texts) as { readonly [Name in keyof Defined]: TOptional<TString> };
}

/** Saves room in the list of tools, which is part of each conversation: another tool describes the same input. */
export function withoutDescriptions<Input extends TObject>(input: Input): Input {
  const properties = Object.entries(input.properties).map(([name, schema]) => [
    name,
    { ...schema, description: undefined, examples: undefined },
  ]);
  return { ...input, properties: Object.fromEntries(properties) };
}

/** How every tool that lists asks for a page. */
export const pageInput = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxLimit,
      description: `At most so many items. Default: ${defaultLimit}.`,
    }),
  ),
  cursor: Type.Optional(
    Type.String({ maxLength: 512, description: "`nextCursor` of the answer before." }),
  ),
};

export interface ForwardRequest {
  readonly limit: number;
  readonly withTotal: false;
  readonly direction: "forward";
  readonly cursor: Position | null;
}

/** Reads them. `ids`: the prefix of the list's ids. Throws `invalid-cursor`. */
export function pageIn(
  { limit = defaultLimit, cursor }: { readonly limit?: number; readonly cursor?: string },
  ids: string,
): ForwardRequest {
  const position = cursor === undefined ? null : decodeCursor(cursor, ids);
  return { limit, withTotal: false, direction: "forward", cursor: position };
}
