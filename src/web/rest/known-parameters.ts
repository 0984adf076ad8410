import { AppError, type FieldError } from "../../base/errors.ts";
import { nearest } from "../../base/nearest.ts";

import { urlOf } from "./url.ts";

/** A route as Elysia lists it, with the query parameters that it declares. */
export interface DeclaredRoute {
  readonly method: string;
  readonly path: string;
  readonly hooks: { readonly query?: unknown };
}

/** Where the API is. Other addresses, webhooks among them, bear with what is added to theirs. */
const apiPrefix = "/v1/";
/** Longer names are cut, and more of them not named. */
const maxNameLength = 100;
const maxFaults = 20;

/**
 * Refuses query parameters that an operation of the API does not declare: ignored, a misspelt filter
 * would answer with everything. `routes` are asked for at the first request.
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
  const errors: FieldError[] = unknown.slice(0, maxFaults).map((name) => {
    const parameter = name.slice(0, maxNameLength);
    return { parameter, code: "invalid-parameter", detail: adviceOn(parameter, known) };
  });
  const [name = ""] = unknown;
  const more = unknown.length > 1 ? ` (and ${unknown.length - 1} more)` : "";
  const detail = `${name.slice(0, maxNameLength)}: ${errors[0]?.detail}${more}`;
  return new AppError("invalid-parameter", detail, { errors });
}

function adviceOn(name: string, known: readonly string[]): string {
  const closest = nearest(name, known);
  if (closest === null) return "Unknown parameter. This operation has none";
  return `Unknown parameter. Did you mean ${closest}?`;
}
