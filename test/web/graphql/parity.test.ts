import { beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";

import { buildSchema, getNamedType, isLeafType, isObjectType } from "graphql";

import { json } from "../../support/app.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { ask, type Asker, at, fetchAs } from "../../support/graphql.ts";
import { holdSeat, payer } from "../../support/payments.ts";
import { appPerTest } from "../../support/running-app.ts";

const schema = buildSchema(await Bun.file(join(import.meta.dir, "../../../schema.graphql")).text());
const bookings = "/v1/api/bookings";
const route = { origin: "JFK", destination: "LHR" };

/** The field with the id that REST calls `id`. */
const ids: Readonly<Record<string, string>> = {
  Flight: "flightId",
  Booking: "bookingId",
  User: "userId",
};
/** Fields of one of both; same-schema.test.ts lists them. */
const onlyInRest = ["userId", "contactEmail", "history"];
const leadBack = ["booking", "user"];

/** All fields of a type, under the names that REST has for them. */
function allOf(name: string): string {
  const type = schema.getType(name);
  if (!isObjectType(type)) return "";
  const fields = Object.values(type.getFields()).flatMap((field) => {
    if (leadBack.includes(field.name)) return [];
    if (field.name === "id" && ids[name] !== undefined) return [`id: ${ids[name]}`];
    const of = getNamedType(field.type);
    if (!isLeafType(of)) return [`${field.name} ${allOf(of.name)}`];
    return field.name === ids[name] && name !== "Booking" ? [] : [field.name];
  });
  return `{ ${fields.join(" ")} }`;
}

/** Without what is null, or empty where REST may leave it out, and what only REST has. */
function present(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(present);
  if (typeof value !== "object" || value === null) return value;
  const isBooking = "reference" in value;
  const entries = Object.entries(value).filter(([name, part]) => {
    if (part === null || (name === "changes" && Object(part).length === 0)) return false;
    return !isBooking || !onlyInRest.includes(name);
  });
  return Object.fromEntries(entries.map(([name, part]) => [name, present(part)]));
}

const booked = `mutation ($input: CreateBookingInput!, $key: String) {
  result: createBooking(input: $input, idempotencyKey: $key) {
    bookingId status totalPrice currency confirmationSentTo createdAt reference } }`;
const madeUser = `mutation ($input: CreateUserInput!, $key: String) {
  result: createUser(input: $input, idempotencyKey: $key) ${allOf("User")} }`;
const cancelled = `mutation ($id: ID!) { result: cancelBooking(bookingId: $id) ${allOf("Cancellation")} }`;
const oneBooking = `query ($id: ID!) { result: booking(bookingId: $id) ${allOf("Booking")} }`;

const app = appPerTest();

const rest = (who: Asker, path: string, init?: RequestInit) => fetchAs(app, who, path, init);
const graphql = async (who: Asker, query: string, variables = {}): Promise<unknown> => {
  const { data, errors } = await ask(app, who, query, variables);
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
  return at(data, "result");
};
let flightId: number;
beforeEach(async () => {
  ({ id: flightId } = await addFlight(app));
});
const book = async (fields: object = {}) =>
  String(
    at(
      await json(await rest("user", bookings, post({ ...bookingBody(flightId, 2), ...fields }))),
      "bookingId",
    ),
  );

describe("GraphQL returns the same as REST", () => {
  test("for a flight, a search and a calendar", async () => {
    await addFlight(app, { flightNumber: "SK2" });
    await addFlight(app, { flightNumber: "SK3" });
    const flight = `{ result: flight(flightId: ${flightId}) ${allOf("Flight")} }`;
    expect(present(await graphql(null, flight))).toEqual(
      await json(await rest(null, `/v1/api/flights/${flightId}`)),
    );
    const search = {
      ...route,
      departureDate: "2026-12-21",
      passengers: "2",
      cabinClass: "economy",
      page: "1",
      limit: "2",
    };
    const searching = `{ result: searchFlights(origin: "JFK", destination: "lhr", departureDate: "2026-12-21",
      passengers: 2, cabinClass: economy, page: 1, limit: 2) ${allOf("FlightSearchResult")} }`;
    const found = await json(
      await rest(null, `/v1/api/flights?${new URLSearchParams(search).toString()}`),
    );
    expect(found["totalResults"]).toBe(3);
    expect(present(await graphql(null, searching))).toEqual(found);
    const most = `{ result: searchFlights(origin: "JFK", destination: "LHR", departureDate: "2026-12-21", limit: 101) { pageSize } }`;
    expect(await graphql(null, most)).toEqual({ pageSize: 100 });
    const dates = { from: "2026-12-20", to: "2026-12-22" };
    const calendar = `{ result: flightCalendar(origin: "JFK", destination: "LHR", from: "${dates.from}", to: "${dates.to}",
      passengers: 2, cabinClass: economy) ${allOf("FlightCalendar")} }`;
    const days = new URLSearchParams({
      ...route,
      ...dates,
      passengers: "2",
      cabinClass: "economy",
    });
    expect(await graphql(null, calendar)).toEqual(
      await json(await rest(null, `/v1/api/flights/calendar?${days.toString()}`)),
    );
  });

  test.each([
    ["confirmed", () => book()],
    [
      "held and paid",
      async () => {
        const id = await holdSeat(app, flightId);
        await payer(app)("payment_intent.succeeded", { booking: id, amount: 49_950 });
        return id;
      },
    ],
    [
      "with an offer",
      async () => {
        const id = await book();
        const other = await addFlight(app, { flightNumber: "SK2", priceMinor: 40_000 });
        await rest("user", `${bookings}/${id}/changes`, post({ flightId: other.id }));
        return id;
      },
    ],
    [
      "cancelled",
      async () => {
        const id = await book();
        await rest("user", `${bookings}/${id}`, { method: "DELETE" });
        return id;
      },
    ],
  ])("for a booking that is %s", async (_, make) => {
    const id = await make();
    const told = await json(await rest("user", `${bookings}/${id}`));
    expect(present(await graphql("user", oneBooking, { id }))).toEqual(present(told));
  });

  test("for a booking that is made and cancelled, and for late retries", async () => {
    const input = bookingBody(flightId, 2);
    const made = await graphql("user", booked, { input, key: "one" });
    // REST knows the key and the request that it was used for.
    const again = await rest("user", bookings, post(input, { "idempotency-key": "one" }));
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await again.json()).toEqual(made);
    const id = String(at(made, "bookingId"));
    const end = await graphql("user", cancelled, { id });
    expect(end).toEqual(await json(await rest("user", `${bookings}/${id}`, { method: "DELETE" })));
    expect(await graphql("user", booked, { input, key: "one" })).toEqual(made);
  });

  test("for a user", async () => {
    const input = { name: " Ada ", email: "ada@example.com" };
    const made = await graphql("user", madeUser, { input, key: "one" });
    const again = await rest("user", "/v1/users", post(input, { "idempotency-key": "one" }));
    expect(await again.json()).toEqual(made);
    const me: Asker = ["user", String(at(made, "id"))];
    expect(await graphql(me, `{ result: me ${allOf("User")} }`)).toEqual(made);
    expect(await graphql("user", "{ result: me { name } }")).toBeNull();
    const listed = await graphql("user", `{ result: users { nodes ${allOf("User")} } }`);
    expect(at(listed, "nodes")).toEqual(await (await rest("user", "/v1/users")).json());
  });

  test("for a search for bookings", async () => {
    const { reference, bookingId } = Object(
      await graphql("user", booked, { input: bookingBody(flightId) }),
    );
    const query = `query ($q: String, $userId: ID) {
      result: bookings(q: $q, userId: $userId) { nodes { id: bookingId } totalCount } }`;
    for (const [q, userId, count] of [
      [reference, undefined, 1],
      [bookingId, undefined, 1],
      [" ADA@example.com ", undefined, 1],
      ["Lovelace", undefined, 1],
      ["nobody", undefined, 0],
      ["Lovelace", "stranger", 0],
    ]) {
      const search = new URLSearchParams({ q, ...(userId && { userId }), include: "total" });
      const { data, pagination } = await json(
        await rest("admin", `${bookings}?${search.toString()}`),
      );
      expect(at(pagination, "total")).toBe(count);
      expect(await graphql("admin", query, { q, userId })).toEqual({
        nodes: Object(data).map(({ id }: { readonly id: string }) => ({ id })),
        totalCount: count,
      });
    }
  });
});

test("GraphQL returns null for unknown objects and those of other users", async () => {
  const id = await book();
  const query = "query ($id: ID!) { result: booking(bookingId: $id) { bookingId } }";
  expect(await graphql("user", query, { id: "bk_0" })).toBeNull();
  expect(await graphql(["user", "stranger"], query, { id })).toBeNull();
  expect(await graphql("admin", query, { id })).toEqual({ bookingId: id });
  expect(await graphql(null, "{ result: flight(flightId: 99) { id } }")).toBeNull();
  // Beyond the range of the column's type, of Int, and of exact integers.
  for (const number of ["2147483648", "3000000000", "999999999999999", "9".repeat(30)]) {
    const nodeIds = [`Flight:${number}`, `Flight:${flightId}`].map((text) =>
      Buffer.from(text).toString("base64"),
    );
    const nodes = "query ($ids: [ID!]!) { result: nodes(ids: $ids) { id } }";
    expect(await graphql(null, nodes, { ids: nodeIds })).toEqual([null, { id: nodeIds[1] }]);
  }
});
