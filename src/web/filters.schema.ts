import { type TOptional, type TSchema, Type } from "@sinclair/typebox";

import type { Filters } from "../base/filters.ts";

import { instant, word } from "./schema.ts";

/** The query parameters of filters, as the OpenAPI document shows them. */
export function filterParameters<const Defined extends Filters>(defined: Defined) {
  const entries = Object.entries(defined).map(([name, filter]) => {
    const description = describedFilter(filter);
    const { example } = filter;
    const annotations = { description, ...(example !== undefined && { examples: [example] }) };
    if (filter.kind === "instant") return [name, Type.Optional(instant(annotations))];
    if (filter.kind === "word") return [name, Type.Optional(word(filter.words, annotations))];
    return [name, Type.Optional(Type.String(annotations))];
  });
  // Guarantee: Object.entries has the names of the definition.
  return Object.fromEntries(entries) as { readonly [Name in keyof Defined]: TOptional<TSchema> };
}

export function describedFilter({ description, details }: Filters[string]): string {
  return details === undefined ? description : `${description} ${details}`;
}
