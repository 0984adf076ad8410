import { describe, expect, test } from "bun:test";

import { json } from "../../support/app.ts";
import { addFlight, bookingBody, passenger, post } from "../../support/flights.ts";
import { ask, type Asker, at, type GraphqlFault, sendAs } from "../../support/graphql.ts";
import { appPerTest } from "../../support/running-app.ts";

const flightFields = `id: flightId flightNumber airline origin destination departureTime arrivalTime
  duration durationMinutes departureLocal arrivalLocal cabinClass price { amount currency }
  seatsAvailable createdAt`;
const refundFields = "refund { amount currency percent fee method status reason }";
const cancellationFields = `bookingId status cancelledAt ${refundFields}`;
const createdFields = "bookingId status totalPrice currency confirmationSentTo createdAt reference";
const userFields = "id: userId name email createdAt";

const booked = `mutation ($input: CreateBookingInput!, $key: String) {
  result: createBooking(input: $input, idempotencyKey: $key) { ${createdFields} }
}`;
const madeUser = `mutation ($input: CreateUserInput!, $key: String) {
  result: createUser(input: $input, idempotencyKey: $key) { ${userFields} }
}`;
const cancelled = `mutation ($id: ID!) { result: cancelBooking(bookingId: $id) { ${cancellationFields} } }`;

describe("GraphQL", () => {
  const app = appPerTest();

  const rest = (who: Asker, path: string, init: RequestInit = {}) => {
    if (who === null) return app.fetch(path, init);
    const [role, bearer] = typeof who === "string" ? [who, undefined] : who;
    return app.as(role, path, init, bearer);
  };
  const graphql = async (who: Asker, query: string, variables = {}): Promise<unknown> => {
    const { data, errors } = await ask(app, who, query, variables);
    if (errors !== undefined) throw new Error(JSON.stringify(errors));
    return at(data, "result");
  };
  const fault = async (who: Asker, query: string, variables = {}): Promise<GraphqlFault> => {
    const { errors = [] } = await ask(app, who, query, variables);
    expect(errors).toHaveLength(1);
    const [first] = errors;
    if (first === undefined) throw new Error("No error");
    return first;
  };
  /** Expects the same error from REST and GraphQL. */
  const sameFault = async (response: Response, told: GraphqlFault) => {
    const problem = await json(response);
    expect(told.extensions["code"]).toBe(problem["code"]);
    expect(told.extensions["status"]).toBe(response.status);
    expect(told.extensions["errors"]).toEqual(problem["errors"]);
    expect(told.extensions["seatsAvailable"]).toEqual(problem["seatsAvailable"]);
    expect(told.message).toBe(String(problem["detail"]));
  };

  describe("returns the same result as REST for", () => {
    test("a flight", async () => {
      const { id } = await addFlight(app);
      const query = `query ($id: Int!) { result: flight(flightId: $id) { ${flightFields} } }`;
      expect(await graphql(null, query, { id })).toEqual(
        await (await rest(null, `/v1/api/flights/${id}`)).json(),
      );
    });

    test("a search", async () => {
      for (const number of [1, 2, 3]) await addFlight(app, { flightNumber: `SK${number}` });
      const query = `{ result: searchFlights(origin: "JFK", destination: "lhr", departureDate: "2026-12-21",
        passengers: 2, cabinClass: economy, page: 1, limit: 2) { flights { ${flightFields} } totalResults page pageSize } }`;
      const found = await graphql(null, query);
      expect(at(found, "totalResults")).toBe(3);
      const path =
        "/v1/api/flights?origin=JFK&destination=LHR&departureDate=2026-12-21&passengers=2&cabinClass=economy&page=1&limit=2";
      expect(found).toEqual(await (await rest(null, path)).json());
      const most = `{ result: searchFlights(origin: "JFK", destination: "LHR", departureDate: "2026-12-21", limit: 101) { pageSize } }`;
      expect(await graphql(null, most)).toEqual({ pageSize: 100 });
    });

    test("a booking that is created, read and cancelled", async () => {
      const { id: flightId } = await addFlight(app);
      const made = await graphql("user", booked, { input: bookingBody(flightId, 2), key: "one" });
      // REST knows the key and the request that it was used for.
      const again = await rest(
        "user",
        "/v1/api/bookings",
        post(bookingBody(flightId, 2), { "idempotency-key": "one" }),
      );
      expect(again.headers.get("idempotent-replayed")).toBe("true");
      expect(await again.json()).toEqual(made);

      const bookingId = String(at(made, "bookingId"));
      const query = `query ($id: ID!) { result: booking(bookingId: $id) { id: bookingId ${createdFields} seats updatedAt
        flight { ${flightFields} } passengers { firstName lastName email dateOfBirth passportNumber }
        paymentMethod
        payments { amount currency status provider createdAt eventId } refund { amount refunded currency status payouts { amount currency status provider createdAt eventId } }
        cancellation { ${cancellationFields} } } }`;
      const restBooking = async () => {
        const {
          userId: _,
          contactEmail: _2,
          ...fields
        } = await json(await rest("user", `/v1/api/bookings/${bookingId}`));
        return fields;
      };
      expect(await graphql("user", query, { id: bookingId })).toEqual(await restBooking());

      const end = await graphql("user", cancelled, { id: bookingId });
      const restEnd = await rest("user", `/v1/api/bookings/${bookingId}`, { method: "DELETE" });
      expect(end).toEqual(await restEnd.json());
      expect(await graphql("user", query, { id: bookingId })).toEqual(await restBooking());
      // A late retry returns the first result.
      expect(
        await graphql("user", booked, { input: bookingBody(flightId, 2), key: "one" }),
      ).toEqual(made);
    });

    test("a user", async () => {
      const input = { name: " Ada ", email: "ada@example.com" };
      const made = await graphql("user", madeUser, { input, key: "one" });
      const again = await rest("user", "/v1/users", post(input, { "idempotency-key": "one" }));
      expect(await again.json()).toEqual(made);
      const me: Asker = ["user", String(at(made, "id"))];
      expect(await graphql(me, `{ result: me { ${userFields} } }`)).toEqual(made);
      expect(await graphql("user", "{ result: me { name } }")).toBeNull();
      const listed = await graphql("user", `{ result: users { nodes { ${userFields} } } }`);
      expect(at(listed, "nodes")).toEqual(await (await rest("user", "/v1/users")).json());
    });

    test("a search for bookings", async () => {
      const { id: flightId } = await addFlight(app);
      const { reference, bookingId } = Object(
        await graphql("user", booked, { input: bookingBody(flightId) }),
      );
      const query = `query ($q: String, $userId: ID) {
        result: bookings(q: $q, userId: $userId) { nodes { bookingId } totalCount } }`;
      for (const [q, userId] of [
        [reference],
        [bookingId],
        [" ADA@example.com "],
        ["Lovelace"],
        ["nobody"],
        ["Lovelace", "stranger"],
      ]) {
        const search = new URLSearchParams({ q, ...(userId && { userId }), include: "total" });
        const found = await json(await rest("admin", `/v1/api/bookings?${search.toString()}`));
        expect(await graphql("admin", query, { q, userId })).toEqual({
          nodes: Object(found["data"]).map(({ id }: { readonly id: string }) => ({
            bookingId: id,
          })),
          totalCount: Object(found["pagination"]).total,
        });
      }
      expect(await graphql("admin", query, { q: reference })).toMatchObject({ totalCount: 1 });
      for (const [who, q] of [
        ["user", reference],
        ["operator", "nobody"],
        ["admin", " "],
        ["admin", "x".repeat(255)],
      ] as const) {
        const path = `/v1/api/bookings?q=${encodeURIComponent(q)}`;
        await sameFault(await rest(who, path), await fault(who, query, { q }));
      }
    });
  });

  describe("returns the same error as REST", () => {
    const booking = (body: unknown, who: Asker = "user", headers = {}) =>
      rest(who, "/v1/api/bookings", post(body, headers));

    test("for a booking without a token", async () => {
      const input = bookingBody(1);
      await sameFault(await booking(input, null), await fault(null, booked, { input }));
    });

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
    ])("for a booking with %s", async (_, input) => {
      await addFlight(app);
      await sameFault(await booking(input), await fault("user", booked, { input }));
    });

    test("for a full flight, a departed flight and a reused key", async () => {
      const { id } = await addFlight(app, { seats: 1 });
      const full = bookingBody(id, 2);
      await sameFault(await booking(full), await fault("user", booked, { input: full }));

      const departureTime = new Date(app.clock.now() + 60_000);
      const input = bookingBody((await addFlight(app, { departureTime })).id);
      await sameFault(await booking(input), await fault("user", booked, { input }));

      await graphql("user", booked, { input: bookingBody(id), key: "k" });
      await sameFault(
        await booking(full, "user", { "idempotency-key": "k" }),
        await fault("user", booked, { input: full, key: "k" }),
      );
      for (const key of ["", "a b", "ü", "x".repeat(256)]) {
        const told = await fault("user", booked, { input: full, key });
        expect(told.extensions).toMatchObject({ code: "invalid-parameter", status: 400 });
      }
    });

    test("for cancelling an unknown booking, another user's booking and a departed one", async () => {
      const { id: flightId } = await addFlight(app);
      const made = await graphql("user", booked, { input: bookingBody(flightId) });
      const id = String(at(made, "bookingId"));
      const remove = (who: Asker, bookingId: string) =>
        rest(who, `/v1/api/bookings/${bookingId}`, { method: "DELETE" });
      const stranger: Asker = ["user", "stranger"];
      await sameFault(await remove("user", "bk_0"), await fault("user", cancelled, { id: "bk_0" }));
      await sameFault(await remove(stranger, id), await fault(stranger, cancelled, { id }));
      app.clock.advance(31 * 86_400_000);
      await sameFault(await remove("user", id), await fault("user", cancelled, { id }));
    });

    test("for users", async () => {
      const input = { name: "Ada", email: "ada@example.com" };
      await graphql("user", madeUser, { input });
      const add = (body: unknown) => rest("user", "/v1/users", post(body));
      for (const bad of [input, { ...input, email: "x" }, { name: "", email: "b@example.com" }]) {
        await sameFault(await add(bad), await fault("user", madeUser, { input: bad }));
      }
      await sameFault(
        await rest(null, "/v1/users"),
        await fault(null, "{ result: users { totalCount } }"),
      );
    });

    test.each([
      [
        'origin: "JF", destination: "LHR", departureDate: "2026-12-21"',
        "origin=JF&destination=LHR&departureDate=2026-12-21",
      ],
      [
        'origin: "JFK", destination: "JFK", departureDate: "2026-12-21"',
        "origin=JFK&destination=JFK&departureDate=2026-12-21",
      ],
      [
        'origin: "JFK", destination: "LHR", departureDate: "2026-02-30"',
        "origin=JFK&destination=LHR&departureDate=2026-02-30",
      ],
      [
        'origin: "JFK", destination: "LHR", departureDate: "2026-12-21", passengers: 10, limit: 0',
        "origin=JFK&destination=LHR&departureDate=2026-12-21&passengers=10&limit=0",
      ],
      [
        'origin: "JFK", destination: "LHR", departureDate: "2026-12-21", page: 501',
        "origin=JFK&destination=LHR&departureDate=2026-12-21&page=501",
      ],
    ])("for a search with %s", async (args, search) => {
      await sameFault(
        await rest(null, `/v1/api/flights?${search}`),
        await fault(null, `{ result: searchFlights(${args}) { page } }`),
      );
    });
  });

  test("returns null for unknown objects and those of other users", async () => {
    const { id: flightId } = await addFlight(app);
    const made = await graphql("user", booked, { input: bookingBody(flightId) });
    const query = "query ($id: ID!) { result: booking(bookingId: $id) { reference } }";
    expect(await graphql("user", query, { id: "bk_0" })).toBeNull();
    const id = at(made, "bookingId");
    expect(await graphql(["user", "stranger"], query, { id })).toBeNull();
    expect(await graphql("admin", query, { id })).toEqual({ reference: at(made, "reference") });
    expect(await graphql(null, "{ result: flight(flightId: 99) { id } }")).toBeNull();
    // Beyond the range of the column's type, of Int, and of exact integers.
    for (const number of ["2147483648", "3000000000", "999999999999999", "9".repeat(30)]) {
      const ids = [`Flight:${number}`, `Flight:${flightId}`].map((text) =>
        Buffer.from(text).toString("base64"),
      );
      const nodes = "query ($ids: [ID!]!) { result: nodes(ids: $ids) { id } }";
      expect(await graphql(null, nodes, { ids })).toEqual([null, { id: ids[1] }]);
    }
  });
});
