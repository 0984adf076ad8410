import { type TOptional, type TSchema, type TUnsafe, Type } from "@sinclair/typebox";

import { type Filters, type JsonFilters, maxFilterLength } from "../base/filters.ts";

import { instant, nullable, word } from "./schema.ts";

type Filter = Filters[string];

function describedFilter({ description, details }: Filter): string {
  return details === undefined ? description : `${description} ${details}`;
}

/** A day later for the end of a period, so that the examples of both name one. */
const instantExample = (name: string): string =>
  /^to$|To$/.test(name) ? "2026-11-22T09:00:00Z" : "2026-11-21T09:00:00Z";

function annotationsOf(name: string, filter: Filter) {
  const { example = filter.kind === "instant" ? instantExample(name) : undefined } = filter;
  const description = describedFilter(filter);
  return { description, ...(example !== undefined && { examples: [example] }) };
}

/** The query parameters of filters, as the OpenAPI document shows them. */
export function filterParameters<const Defined extends Filters>(defined: Defined) {
  const entries = Object.entries(defined).map(([name, filter]) => {
    const annotations = annotationsOf(name, filter);
    if (filter.kind === "instant") return [name, Type.Optional(instant(annotations))];
    if (filter.kind === "word") return [name, Type.Optional(word(filter.words, annotations))];
    return [name, Type.Optional(Type.String(annotations))];
  });
  // Guarantee: Object.entries has the names of the definition.
  return Object.fromEntries(entries) as { readonly [Name in keyof Defined]: TOptional<TSchema> };
}

/** The same as texts, which `readFilters` reads. */
export const filterQuery = <const Defined extends Filters>(defined: Defined) =>
  Type.Unsafe<{ readonly [Name in keyof Defined]?: string | null | undefined }>(
    Type.Object(filterParameters(defined)),
  );

type JsonFields<Defined extends Filters> = {
  readonly [Name in keyof Defined]: TOptional<TUnsafe<JsonFilters<Defined>[Name]>>;
};

/** The fields of filters in the body of a request, each with the error for an invalid value. Null means no filter. */
export function filterInputs<const Defined extends Filters>(defined: Defined) {
  const entries = Object.entries(defined).map(([name, filter]) => {
    const [schema, errorMessage] = inputOf(name, filter);
    return [name, Type.Optional(Type.Union([schema, Type.Null()], { errorMessage }))];
  });
  // Guarantee: as above. A schema accepts what JsonFilters has for its kind.
  return Object.fromEntries(entries) as JsonFields<Defined>;
}

export const instantDetail = "Write an instant in ISO 8601, such as 2026-11-21T09:00:00Z";

function inputOf(name: string, filter: Filter): readonly [TSchema, errorMessage: string] {
  const annotations = annotationsOf(name, filter);
  if (filter.kind === "instant") return [Type.String(annotations), instantDetail];
  if (filter.kind === "word") {
    const words = filter.words.map((each) => Type.Literal(each));
    return [Type.Union(words, annotations), `One of: ${filter.words.join(", ")}`];
  }
  const { maxLength = maxFilterLength } = filter;
  const text = Type.String({ minLength: 1, maxLength, ...annotations });
  return [text, `Write 1 to ${maxLength} characters`];
}

/** The fields of filters in a response. */
export function filterFields<const Defined extends Filters>(defined: Defined) {
  const entries = Object.entries(defined).map(([name, filter]) => {
    const annotations = annotationsOf(name, filter);
    const value =
      filter.kind === "word" ? word(filter.words, annotations) : Type.String(annotations);
    return [name, Type.Optional(nullable(value))];
  });
  // Guarantee: as above.
  return Object.fromEntries(entries) as JsonFields<Defined>;
}
