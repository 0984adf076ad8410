import type { Filters } from "../../base/filters.ts";
import { describedFilter } from "../filters.schema.ts";

import type { ArgumentBuilder, ArgumentOf } from "./builder.ts";

/** The GraphQL arguments of filters. `types`: the types of those that are not plain text. */
export function filterArguments<const Defined extends Filters>(
  arg: ArgumentBuilder,
  defined: Defined,
  types: { readonly [Name in keyof Defined]?: object | string } = {},
) {
  const entries = Object.entries(defined).map(([name, filter]) => {
    const type = types[name] ?? (filter.kind === "instant" ? "DateTime" : "String");
    // Pothos cannot compare a type in a variable.
    return [name, arg({ type, description: describedFilter(filter) } as never)];
  });
  // Guarantee: Object.entries has the names of the definition. Enumerations and instants are given as text.
  return Object.fromEntries(entries) as {
    readonly [Name in keyof Defined]: ArgumentOf<string | null | undefined>;
  };
}
