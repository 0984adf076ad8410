import { checkedInstant, choiceOf, invalidParameter, single } from "./parameters.ts";

/**
 * The filters of a list, by name. A definition is data: the console's page and the command line read it too.
 * Query parameters, GraphQL arguments, request bodies, options and controls are made from it.
 */
export type Filters = Readonly<Record<string, Filter>>;

type Filter = TextFilter | WordFilter | InstantFilter;

interface Described {
  /** In the console. */
  readonly label: string;
  /** One sentence, such as `Only events of this provider.` */
  readonly description: string;
  /** More sentences, where there is room for them: in the reference of the API. */
  readonly details?: string;
  readonly example?: string;
  /** How the value matches the item's field of the same name. Absent: only a database query can decide. */
  readonly compare?: "equal" | "equal or prefix";
}

interface TextFilter extends Described {
  readonly kind: "text";
  readonly maxLength?: number;
  /** A `*` at the end matches all values that start with the text before it. */
  readonly isPrefixed?: true;
  /** Whether white space around the value is removed. */
  readonly isTrimmed?: true;
  /** Returns the text as the database has it. */
  readonly asStored?: (text: string) => string;
}

/** One of a closed set. */
interface WordFilter extends Described {
  readonly kind: "word";
  readonly words: readonly string[];
}

/** A list has `from`, which is inclusive, and `to`, which is exclusive. */
interface InstantFilter extends Described {
  readonly kind: "instant";
}

type ValueOf<One extends Filter> = One extends { readonly words: readonly (infer Word)[] }
  ? Word
  : One extends InstantFilter
    ? Date
    : string;

/** The values of filters. Undefined: any. */
export type FiltersOf<Defined extends Filters> = {
  readonly [Name in keyof Defined]?: ValueOf<Defined[Name]> | undefined;
};

/** The longest value of a text filter without a limit of its own. */
export const maxFilterLength = 200;

/** The values of filters as JSON: instants in ISO 8601, null for any. */
export type JsonFilters<Defined extends Filters> = {
  readonly [Name in keyof Defined]:
    (ValueOf<Defined[Name]> extends Date ? string : ValueOf<Defined[Name]>) | null;
};

/** The filters of a query string. Throws `invalid-parameter`. */
export function queriedFilters<const Defined extends Filters>(
  defined: Defined,
  query: URLSearchParams,
): FiltersOf<Defined> {
  return readEach(defined, (name) => single(query, name));
}

/** The filters among the arguments of a GraphQL field, or in JSON. Throws `invalid-parameter`. */
export function readFilters<const Defined extends Filters>(
  defined: Defined,
  given: { readonly [Name in keyof Defined]?: string | null | undefined },
): FiltersOf<Defined> {
  return readEach(defined, (name) => given[name]);
}

function readEach<Defined extends Filters>(
  defined: Defined,
  given: (name: string) => string | null | undefined,
): FiltersOf<Defined> {
  const values = new Map(
    Object.entries(defined).map(([name, filter]) => [name, read(name, filter, given(name))]),
  );
  const [from, to] = [values.get("from"), values.get("to")];
  if (from && to && from > to) throw invalidParameter("to", "Must not be before from");
  // Guarantee: each name of the definition has the value that `read` returns for its kind.
  return Object.fromEntries(values) as FiltersOf<Defined>;
}

/** The opposite of `readFilters`. */
export function jsonFilters<const Defined extends Filters>(
  defined: Defined,
  values: FiltersOf<Defined>,
): JsonFilters<Defined> {
  const entries = Object.keys(defined).map((name) => {
    const value: unknown = values[name];
    return [name, value instanceof Date ? value.toISOString() : (value ?? null)];
  });
  // Guarantee: each name of the definition has its value as JSON.
  return Object.fromEntries(entries) as JsonFilters<Defined>;
}

function read(
  name: string,
  filter: Filter,
  given: string | null | undefined,
): string | Date | undefined {
  if (given === undefined || given === null) return undefined;
  if (filter.kind === "word") return choiceOf(name, filter.words, given);
  if (filter.kind === "instant") return checkedInstant(name, given);
  const text = filter.isTrimmed === true ? given.trim() : given;
  const { maxLength = maxFilterLength } = filter;
  if (text === "" || text.length > maxLength) {
    throw invalidParameter(name, `Must be 1 to ${maxLength} characters`);
  }
  // A * elsewhere would match only itself, so the list would be empty without a reason.
  if (filter.isPrefixed === true && /\*./s.test(text)) {
    throw invalidParameter(name, `Must have * at its end only, as in ${filter.example ?? "a.*"}`);
  }
  return filter.asStored?.(text) ?? text;
}

/** Whether an item has the values of the filters that can be compared with its fields. */
export function matchesFields<Defined extends Filters>(
  defined: Defined,
  item: object,
  values: FiltersOf<Defined>,
): boolean {
  const fields: Readonly<Record<string, unknown>> = { ...item };
  return Object.entries(defined).every(([name, { compare }]) => {
    const wanted = values[name];
    if (compare === undefined || wanted === undefined) return true;
    const value = fields[name];
    if (compare === "equal" || typeof wanted !== "string") return value === wanted;
    return typeof value === "string" && matchesText(value, wanted);
  });
}

/** Whether a text is the wanted one or, if that ends with `*`, starts with what precedes the `*`. */
export function matchesText(text: string, wanted: string): boolean {
  return wanted.endsWith("*") ? text.startsWith(wanted.slice(0, -1)) : text === wanted;
}
