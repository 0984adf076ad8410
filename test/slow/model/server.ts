import { deepStrictEqual } from "node:assert";

import {
  type Answer,
  graphql as askGraphql,
  type Interface,
  type Operation,
  rest as askRest,
  through,
} from "../harness/requests.ts";

import type { AppWorld } from "./app-world.ts";

export type Server = AppWorld;

const bearer = (token: string | null) => (token === null ? null : `Bearer ${token}`);

export const rest = (
  { send }: Server,
  token: string | null,
  method: string,
  path: string,
): Promise<Answer> => askRest(send, bearer(token), { method, path });

/** The queried field must have the alias `result`. */
export const graphql = (
  { send }: Server,
  token: string | null,
  query: string,
  variables: Record<string, unknown> = {},
): Promise<Answer> => askGraphql(send, bearer(token), { query, variables });

export const ask = (
  { send }: Server,
  token: string | null,
  by: Interface,
  operation: Operation,
): Promise<Answer> => through(by, send, bearer(token), operation);

/** Throws with both values when they differ. */
export function same(what: string, actual: unknown, expected: unknown): void {
  try {
    deepStrictEqual(actual, expected);
  } catch (error) {
    throw new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** An error that the model expects. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
}

/** Checks that a response is the expected one (null: success), and counts it. */
export function sameOutcome(
  server: Server,
  what: string,
  { status, code, body }: Answer,
  refusal: Refusal | null,
): void {
  const told = code === null ? null : { status, code };
  const expected = refusal && { status: refusal.status, code: refusal.code };
  same(`${what}, answered with ${JSON.stringify(body)}`, told, expected);
  server.count(`${what}: ${refusal?.code ?? "done"}`);
}
