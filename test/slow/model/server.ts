import { deepStrictEqual } from "node:assert";

import { endOutdatedOffers } from "../../../src/booking/changes/ended-offers.ts";
import { readFlightPlans } from "../../../src/booking/flights/import/flight-plans.ts";
import { importFlights } from "../../../src/booking/flights/import/import-flights.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { type ManualClock, manualClock } from "../../support/clock.ts";
import { at } from "../../support/graphql.ts";

import type { DatabaseKind } from "./databases.ts";

export type Role = "user" | "operator" | "admin";
export type Door = "rest" | "graphql";

/** The real service, which can be restarted on the same database. */
export interface Server {
  readonly clock: ManualClock;
  /** Counts of each outcome, for the summary. */
  readonly tally: Map<string, number>;
  send(path: string, init?: RequestInit): Promise<Response>;
  mint(userId: string, role: Role, ttlSeconds: number): Promise<string>;
  /** Throws the import's error; an invalid line is an error in the test. */
  importCsv(csv: string): Promise<void>;
  restart(): Promise<void>;
  /** Also removes the database. */
  stop(): Promise<void>;
}

export async function startServer(kind: DatabaseKind, tally: Map<string, number>): Promise<Server> {
  const database = await kind.open();
  const clock = manualClock();
  const env = { DATABASE_URL: database.url, TRUSTED_PROXY_HOPS: "1" };
  const start = () => startApp(env, clock);
  let app: TestApp = await start();
  return {
    clock,
    tally,
    send: (path, init) => app.fetch(path, init),
    mint: (id, role, ttlSeconds) => app.services.tokens.mint({ id, roles: [role] }, ttlSeconds),
    async importCsv(csv) {
      const lines = await Array.fromAsync(readFlightPlans(new Response(csv).body ?? none(), "csv"));
      const flights = lines.map((line) => ("plan" in line ? line : none(line.error)));
      await importFlights(
        { storage: app.services.storage, endOutdated: endOutdatedOffers },
        flights,
        new Date(clock.now()),
      );
    },
    async restart() {
      await app.stop();
      await database.renew();
      app = await start();
    },
    async stop() {
      await app.stop();
      await database.remove();
    },
  };
}

function none(why = "There is no body"): never {
  throw new Error(why);
}

/** A REST or GraphQL response in a common form. */
export interface Answer {
  readonly status: number;
  /** Null on success. */
  readonly code: string | null;
  /** The result; for an error, its details. */
  readonly body: unknown;
  readonly headers: Headers;
}

const bearer = (token: string | null): Record<string, string> =>
  token === null ? {} : { authorization: `Bearer ${token}` };

export async function rest(
  server: Server,
  token: string | null,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await server.send(path, {
    method,
    headers: { ...bearer(token), "content-type": "application/json", ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  const code = response.ok ? null : String(at(answer, "code"));
  return { status: response.status, code, body: answer, headers: response.headers };
}

/** The queried field must have the alias `result`. */
export async function graphql(
  server: Server,
  token: string | null,
  query: string,
  variables: Record<string, unknown> = {},
): Promise<Answer> {
  const response = await server.send("/graphql", {
    method: "POST",
    headers: { ...bearer(token), "content-type": "application/json" },
    body: JSON.stringify({ query, variables }),
  });
  const answer: unknown = await response.json();
  const { headers } = response;
  const told = at(answer, "errors", 0, "extensions");
  if (at(answer, "errors") === undefined) {
    return { status: 200, code: null, body: at(answer, "data", "result"), headers };
  }
  return {
    status: Number(at(told, "status")),
    code: String(at(told, "code") ?? at(answer, "errors", 0, "message")),
    body: told,
    headers,
  };
}

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
  try {
    same(what, told, expected);
  } catch (error) {
    throw new Error(`${String(error)}\nThe answer: ${JSON.stringify(body)}`);
  }
  count(server, `${what}: ${refusal?.code ?? "done"}`);
}

export function count({ tally }: Server, label: string): void {
  tally.set(label, (tally.get(label) ?? 0) + 1);
}
