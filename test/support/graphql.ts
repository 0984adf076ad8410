import type { Role } from "../../src/base/context.ts";

import type { TestApp } from "./app.ts";

/** An error of a GraphQL response. */
export interface GraphqlFault {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: Readonly<Record<string, unknown>>;
}

export interface Answer {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly GraphqlFault[];
}

/** The caller: null for none, a role, or a role and an id of the bearer. */
export type Asker = Role | null | readonly [role: Role, bearer: string];

export function postQuery(
  query: string,
  variables: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): RequestInit {
  return {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ query, variables }),
  };
}

export function fetchAs(
  app: TestApp,
  who: Asker,
  path: string,
  init: RequestInit = {},
): Promise<Response> {
  if (who === null) return app.fetch(path, init);
  const [role, bearer] = typeof who === "string" ? [who, undefined] : who;
  return app.as(role, path, init, bearer);
}

export const sendAs = (app: TestApp, who: Asker, init: RequestInit): Promise<Response> =>
  fetchAs(app, who, "/graphql", init);

/** Sends a query and returns the response, errors included. */
export async function ask(
  app: TestApp,
  who: Asker,
  query: string,
  variables: Record<string, unknown> = {},
): Promise<Answer> {
  const response = await sendAs(app, who, postQuery(query, variables));
  // Guarantee: the server sends this form; otherwise the test fails on what it reads.
  return (await response.json()) as Answer;
}

/** Sends a query and returns the data. Throws if there are errors. */
export async function dataOf(
  app: TestApp,
  who: Asker,
  query: string,
  variables: Record<string, unknown> = {},
): Promise<Record<string, unknown>> {
  const { data, errors } = await ask(app, who, query, variables);
  if (errors !== undefined || !data) throw new Error(`Errors: ${JSON.stringify(errors)}`);
  return data;
}

/** The value at a path of names and indexes; undefined if there is none. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inner, key) => {
    if (typeof inner !== "object" || inner === null) return undefined;
    return new Map<string, unknown>(Object.entries(inner)).get(String(key));
  }, value);
}

export function listAt(value: unknown, ...path: readonly (string | number)[]): unknown[] {
  const list = at(value, ...path);
  if (!Array.isArray(list)) throw new Error(`No list at ${path.join(".")}`);
  return list;
}
