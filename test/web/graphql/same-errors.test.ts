import { beforeEach, describe, expect, test } from "bun:test";

import { json } from "../../support/app.ts";
import { addFlight, bookingBody, passenger, post } from "../../support/flights.ts";
import { ask, type Asker, at, dataOf, fetchAs, sendAs } from "../../support/graphql.ts";
import { appPerTest } from "../../support/running-app.ts";

const bookings = "/v1/api/bookings";
const booked = `mutation ($input: CreateBookingInput!, $key: String) {
  createBooking(input: $input, idempotencyKey: $key) { bookingId reference } }`;
const madeUser = "mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }";
const cancelled = "mutation ($id: ID!) { cancelBooking(bookingId: $id) { bookingId } }";

const app = appPerTest();

const rest = (who: Asker, path: string, init?: RequestInit) => fetchAs(app, who, path, init);
/** Expects the same error from both. */
const sameFault = async (response: Response, who: Asker, query: string, variables = {}) => {
  const problem = await json(response);
  const { errors = [] } = await ask(app, who, query, variables);
  expect(errors).toHaveLength(1);
  const { message, extensions = {} } = errors[0] ?? {};
  expect(extensions["status"]).toBe(response.status);
  for (const name of ["code", "errors", "seatsAvailable"]) {
    expect([name, extensions[name]]).toEqual([name, problem[name]]);
  }
  expect(message).toBe(String(problem["detail"]));
};

let flightId: number;
beforeEach(async () => {
  ({ id: flightId } = await addFlight(app));
});

describe("GraphQL returns the same error as REST", () => {
  const sameForBooking = async (input: unknown, who: Asker = "user", key?: string) => {
    const headers: Record<string, string> = key === undefined ? {} : { "idempotency-key": key };
    await sameFault(await rest(who, bookings, post(input, headers)), who, booked, { input, key });
  };

  test("for an invalid token, without executing the request", async () => {
    const headers = { authorization: "Bearer x.y.z" };
    const response = await sendAs(app, null, post({ query: "{ __typename }" }, headers));
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe('Bearer error="invalid_token"');
    const { errors } = await json(response);
    expect(errors).toMatchObject([{ extensions: { code: "invalid-token", status: 401 } }]);
  });

  const withPassenger = (fields: object) => ({
    ...bookingBody(1),
    passengers: [{ ...passenger(), ...fields }],
  });
  test.each([
    ["no passengers", bookingBody(1, 0)],
    ["10 passengers", bookingBody(1, 10)],
    ["flight 0", bookingBody(0)],
    ["an unknown flight", bookingBody(99)],
    ["a bad address", { ...bookingBody(1), contactEmail: "ada" }],
    ["an impossible date", withPassenger({ dateOfBirth: "1990-02-30" })],
    ["a birth to come", withPassenger({ dateOfBirth: "2030-01-01" })],
    ["a blank name", withPassenger({ firstName: " " })],
    ["a bad passport", withPassenger({ passportNumber: "X" })],
    ["two faults", withPassenger({ passportNumber: "X", lastName: "" })],
  ])("for a booking with %s", (_, input) => sameForBooking(input));

  test("for a missing token, a full flight, a departed flight and a reused key", async () => {
    await sameForBooking(bookingBody(flightId), null);
    const { id } = await addFlight(app, { flightNumber: "SK2", seats: 1 });
    const full = bookingBody(id, 2);
    await sameForBooking(full);
    const departureTime = new Date(app.clock.now() + 60_000);
    await sameForBooking(bookingBody((await addFlight(app, { departureTime })).id));
    await dataOf(app, "user", booked, { input: bookingBody(id), key: "k" });
    await sameForBooking(full, "user", "k");
    for (const key of ["", "a b", "ü", "x".repeat(256)]) {
      const { errors } = await ask(app, "user", booked, { input: full, key });
      expect(errors).toMatchObject([{ extensions: { code: "invalid-parameter", status: 400 } }]);
    }
  });

  test("for cancelling an unknown booking, another user's booking and a departed one", async () => {
    const made = await dataOf(app, "user", booked, { input: bookingBody(flightId) });
    const id = String(at(made, "createBooking", "bookingId"));
    const cancel = async (who: Asker, bookingId: string) =>
      sameFault(await rest(who, `${bookings}/${bookingId}`, { method: "DELETE" }), who, cancelled, {
        id: bookingId,
      });
    await cancel("user", "bk_0");
    await cancel(["user", "stranger"], id);
    app.clock.advance(31 * 86_400_000);
    await cancel("user", id);
  });

  test("for users", async () => {
    const input = { name: "Ada", email: "ada@example.com" };
    await dataOf(app, "user", madeUser, { input });
    for (const bad of [input, { ...input, email: "x" }, { name: "", email: "b@example.com" }]) {
      await sameFault(await rest("user", "/v1/users", post(bad)), "user", madeUser, { input: bad });
    }
    await sameFault(await rest(null, "/v1/users"), null, "{ users { totalCount } }");
  });

  test.each([
    { origin: "JF" },
    { destination: "JFK" },
    { departureDate: "2026-02-30" },
    { passengers: 10, limit: 0 },
    { page: 501 },
  ])("for a search with %j", async (fields) => {
    const search = { origin: "JFK", destination: "LHR", departureDate: "2026-12-21", ...fields };
    const entries = Object.entries(search);
    const args = entries.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(", ");
    const query = new URLSearchParams();
    for (const [name, value] of entries) query.set(name, String(value));
    const response = await rest(null, `/v1/api/flights?${query.toString()}`);
    await sameFault(response, null, `{ searchFlights(${args}) { page } }`);
  });

  test("for a search for bookings", async () => {
    const query = "query ($q: String) { bookings(q: $q) { totalCount } }";
    for (const [who, q] of [
      ["user", "ABCDEF"],
      ["operator", "nobody"],
      ["admin", " "],
      ["admin", "x".repeat(255)],
    ] as const) {
      const path = `${bookings}?q=${encodeURIComponent(q)}`;
      await sameFault(await rest(who, path), who, query, { q });
    }
  });
});
