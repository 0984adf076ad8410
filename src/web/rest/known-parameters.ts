import { AppError, type FieldError } from "../../base/errors.ts";
import { nearest } from "../../base/nearest.ts";
import { urlOf } from "../url.ts";

/** A route as Elysia lists it, with the query parameters that it declares. */
export interface DeclaredRoute {
  readonly method: string;
  readonly path: string;
  readonly hooks: { readonly query?: unknown };
}

/** Only routes of the REST API are checked. Others, such as webhooks, ignore unknown parameters. */
const apiPrefix = "/v1/";
/** Longer names are truncated in the response. */
const maxNameLength = 100;
/** The most errors that one response lists. */
const maxErrors = 20;

/**
 * Rejects query parameters that the operation does not declare. If they were ignored, a misspelt filter
 * would return the whole list. Calls `routes` on the first request.
 */
export function requireKnownParameters(routes: () => readonly DeclaredRoute[]) {
  let known: ReadonlyMap<string, readonly string[]> | null = null;

  return ({ request, route }: { readonly request: Request; readonly route: string }): void => {
    if (!route.startsWith(apiPrefix) || !request.url.includes("?")) return;
    known ??= new Map(routes().map((each) => [`${each.method} ${each.path}`, declaredBy(each)]));
    const method = request.method === "HEAD" ? "GET" : request.method;
    const names = known.get(`${method} ${route}`) ?? [];
    const unknown = [...new Set(urlOf(request).searchParams.keys())].filter(
      (name) => !names.includes(name),
    );
    if (unknown.length > 0) throw unknownParameters(unknown, names);
  };
}

function declaredBy({ hooks }: DeclaredRoute): readonly string[] {
  const { properties = {} }: { readonly properties?: object } = Object(hooks.query);
  return Object.keys(properties);
}

function unknownParameters(unknown: readonly string[], known: readonly string[]): AppError {
  const errors: FieldError[] = unknown.slice(0, maxErrors).map((name) => {
    const parameter = name.slice(0, maxNameLength);
    return { parameter, code: "invalid-parameter", detail: adviceOn(parameter, known) };
  });
  const [name = ""] = unknown;
  const more = unknown.length > 1 ? ` (and ${unknown.length - 1} more)` : "";
  const detail = `${name.slice(0, maxNameLength)}: ${errors[0]?.detail}${more}`;
  return new AppError("invalid-parameter", detail, { errors });
}

/** What other APIs, or the options of the command line, call our parameters. */
const synonyms: ReadonlyMap<string, string> = new Map([
  ["since", "from"],
  ["until", "to"],
  ["before", "to"],
  ["search", "q"],
  ["query", "q"],
  ["after", "cursor"],
  ["first", "limit"],
  ["per_page", "limit"],
]);

function adviceOn(name: string, known: readonly string[]): string {
  if (known.length === 0) return "Unknown parameter. This operation has no parameters";
  const meant = synonyms.get(name.toLowerCase()) ?? "";
  const closest = known.includes(meant) ? meant : nearest(name, known);
  if (closest === null) return "Unknown parameter. The reference at /swagger lists the known ones";
  return `Unknown parameter. Did you mean ${closest}?`;
}
