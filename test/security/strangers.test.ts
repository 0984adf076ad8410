import { afterEach, beforeEach, describe, expect, test } from "bun:test";

import { json, startApp, type TestApp } from "../support/app.ts";
import { addFlight, bookingBody, post } from "../support/flights.ts";
import { postQuery } from "../support/graphql.ts";

const bookings = "/v1/api/bookings";
const missing = `bk_${"0".repeat(32)}`;

/**
 * What can be told of a booking by the clock is told by the work that is done: the statements that are
 * run, not a stop-watch, which on a busy machine tells nothing.
 */
let app: TestApp;
let theirs: string;
let statements: unknown[];
let rows: number;
let units: number;
beforeEach(async () => {
  app = await startApp();
  const { id } = await addFlight(app);
  theirs = String(
    (await json(await app.as("user", bookings, post(bookingBody(id)), "owner")))["bookingId"],
  );
  const { storage } = app.services;
  const all = storage.all.bind(storage);
  const atomically = storage.atomically.bind(storage);
  statements = [];
  rows = 0;
  units = 0;
  Object.assign(storage, {
    all: async (...args: Parameters<typeof all>) => {
      statements.push(args[0]);
      const found = await all(...args);
      rows += found.length;
      return found;
    },
    atomically: (...args: Parameters<typeof atomically>) => {
      units += 1;
      return atomically(...args);
    },
  });
});
afterEach(() => app.stop());

const globalId = (id: string) => Buffer.from(`Booking:${id}`).toString("base64");
const asks: readonly (readonly [string, (id: string) => [string, RequestInit]])[] = [
  ["reading", (id) => [`${bookings}/${id}`, {}]],
  ["a quote", (id) => [`${bookings}/${id}/cancellation`, {}]],
  ["cancelling", (id) => [`${bookings}/${id}`, { method: "DELETE" }]],
  ["a query", (id) => ["/graphql", postQuery(`{ booking(bookingId: "${id}") { reference } }`)]],
  ["a node", (id) => ["/graphql", postQuery(`{ node(id: "${globalId(id)}") { id } }`)]],
  [
    "a mutation",
    (id) => ["/graphql", postQuery(`mutation { cancelBooking(bookingId: "${id}") { status } }`)],
  ],
];

describe("a booking of somebody else's and one that is not there", () => {
  test.each(asks)(
    "by %s: the same answer after the very same statements [API1-2]",
    async (_, request) => {
      const ask = async (id: string, who = "stranger") => {
        statements = [];
        rows = 0;
        units = 0;
        const [path, { headers, ...init }] = request(id);
        const named = new Headers(headers);
        named.set("x-request-id", "same");
        const answer = await app.as("user", path, { ...init, headers: named }, who);
        return {
          status: answer.status,
          headers: [...answer.headers],
          body: (await answer.text()).replaceAll(id, "<id>"),
          statements,
          rows,
          units,
        };
      };
      const foreign = await ask(theirs);
      const none = await ask(missing);
      expect(foreign).toEqual(none);
      expect(foreign.statements.every((one, index) => one === none.statements[index])).toBe(true);
      expect(foreign.statements).toHaveLength(1);
      // Reading a row takes time: the database itself leaves out what is not theirs.
      expect([foreign.rows, foreign.units]).toEqual([0, 0]);
      // That the owner is told more shows that the question was one.
      expect((await ask(theirs, "owner")).body).not.toBe(none.body);
    },
  );
});

test("a client that is not there costs the statement that a wrong secret costs [TIME-2]", async () => {
  const { client } = await app.services.clients.add("a client", ["user"]);
  const ask = async (id: string) => {
    statements = [];
    const body = { grant_type: "client_credentials", client_id: id, client_secret: "wrong" };
    expect((await app.fetch("/v1/auth/token", post(body))).status).toBe(401);
    return statements;
  };
  const known = await ask(client.id);
  expect(known).toHaveLength(1);
  expect((await ask(`cli_${"0".repeat(32)}`))[0]).toBe(known[0]);
});
