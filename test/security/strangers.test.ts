import { beforeEach, expect, spyOn, test } from "bun:test";
import { AsyncLocalStorage } from "node:async_hooks";

import { json } from "../support/app.ts";
import { addFlight, bookingBody, post } from "../support/flights.ts";
import { postQuery } from "../support/graphql.ts";
import { appPerTest } from "../support/running-app.ts";

const bookings = "/v1/api/bookings";
const missing = `bk_${"0".repeat(32)}`;

/**
 * Response times reveal whether a booking exists if the amount of work differs. So the tests compare the
 * executed statements, because measured times are unreliable on a busy machine.
 */
let foreignId: string;
/** Set while a request is answered, so that statements of background tasks do not count. */
const request = new AsyncLocalStorage<true>();
let statements: unknown[];
let rows: number;
let transactions: number;
const app = appPerTest();
beforeEach(async () => {
  const { id } = await addFlight(app);
  foreignId = String(
    (await json(await app.as("user", bookings, post(bookingBody(id)), "owner")))["bookingId"],
  );
  const { storage } = app.services;
  const all = storage.all.bind(storage);
  const atomically = storage.atomically.bind(storage);
  statements = [];
  rows = 0;
  transactions = 0;
  Object.assign(storage, {
    all: async (...args: Parameters<typeof all>) => {
      const isCounted = request.getStore() === true;
      if (isCounted) statements.push(args[0]);
      const found = await all(...args);
      if (isCounted) rows += found.length;
      return found;
    },
    atomically: (...args: Parameters<typeof atomically>) => {
      if (request.getStore() === true) transactions += 1;
      return atomically(...args);
    },
  });
});

const globalId = (id: string) => Buffer.from(`Booking:${id}`).toString("base64");
const requests: readonly (readonly [string, (id: string) => [string, RequestInit]])[] = [
  ["read", (id) => [`${bookings}/${id}`, {}]],
  ["quote", (id) => [`${bookings}/${id}/cancellation`, {}]],
  ["cancel", (id) => [`${bookings}/${id}`, { method: "DELETE" }]],
  [
    "GraphQL query",
    (id) => ["/graphql", postQuery(`{ booking(bookingId: "${id}") { reference } }`)],
  ],
  ["GraphQL node", (id) => ["/graphql", postQuery(`{ node(id: "${globalId(id)}") { id } }`)]],
  [
    "GraphQL mutation",
    (id) => ["/graphql", postQuery(`mutation { cancelBooking(bookingId: "${id}") { status } }`)],
  ],
];

test.each(requests)(
  "a booking of another user and a missing booking %s: return the same response after the same statements [API1-2]",
  async (_, requestFor) => {
    const ask = async (id: string, who = "stranger") => {
      statements = [];
      rows = 0;
      transactions = 0;
      const [path, { headers, ...init }] = requestFor(id);
      const named = new Headers(headers);
      named.set("x-request-id", "same");
      const answer = await request.run(true, () =>
        app.as("user", path, { ...init, headers: named }, who),
      );
      // Counts down with each request.
      answer.headers.delete("ratelimit");
      return {
        status: answer.status,
        headers: [...answer.headers],
        body: (await answer.text()).replaceAll(id, "<id>"),
        statements,
        rows,
        transactions,
      };
    };
    const foreign = await ask(foreignId);
    const none = await ask(missing);
    expect(foreign).toEqual(none);
    expect(foreign.statements.every((one, index) => one === none.statements[index])).toBe(true);
    expect(foreign.statements).toHaveLength(1);
    // Reading a row takes time, so the statement itself must exclude bookings of other users.
    expect([foreign.rows, foreign.transactions]).toEqual([0, 0]);
    // The owner receives a different response, so the request is valid.
    expect((await ask(foreignId, "owner")).body).not.toBe(none.body);
  },
);

test("an unknown client costs the statement and the comparison of a wrong secret [TIME-2]", async () => {
  const { client } = await app.services.clients.add("a client", ["user"]);
  const ask = async (id: string) => {
    statements = [];
    using compared = spyOn(crypto, "timingSafeEqual");
    const body = { grant_type: "client_credentials", client_id: id, client_secret: "wrong" };
    const answer = await request.run(true, () => app.fetch("/v1/auth/token", post(body)));
    expect(answer.status).toBe(401);
    expect(statements).toHaveLength(1);
    expect(compared).toHaveBeenCalledTimes(1);
    return statements[0];
  };
  expect(await ask(`cli_${"0".repeat(32)}`)).toBe(await ask(client.id));
});
