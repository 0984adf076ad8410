import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import { insertFlight } from "../../../src/booking/flights/flights.sql.ts";
import { emptyBooking } from "../../../src/booking/model/booking.ts";
import { insertBooking } from "../../../src/booking/model/bookings.sql.ts";
import { type Flight } from "../../../src/booking/model/flight.ts";
import { write } from "../../../src/db/statement.ts";
import { json } from "../../support/app.ts";
import { addFlight, flightPlan } from "../../support/flights.ts";
import { ask, at, dataOf, listAt } from "../../support/graphql.ts";
import { appPerTest } from "../../support/running-app.ts";
import { runs } from "../../support/runs.ts";

const page = `pageInfo { hasNextPage hasPreviousPage startCursor endCursor }`;
const bookingsQuery = `query ($first: Int, $after: String, $last: Int, $before: String) {
  list: bookings(first: $first, after: $after, last: $last, before: $before) {
    edges { cursor node { id: bookingId } } totalCount ${page} } }`;
const flightsQuery = bookingsQuery
  .replace("bookings(", "flights(")
  .replace("bookingId", "flightId");

describe("a connection", () => {
  const app = appPerTest();

  /** Bookings at the given milliseconds. Times are often equal, so that the id decides the order. */
  const addBookings = async (times: readonly number[]) => {
    const { id: flightId } = await addFlight(app);
    await Promise.all(
      times.map((ms, index) => {
        const createdAt = new Date(Date.UTC(2026, 10, 21) + ms);
        const row = {
          ...emptyBooking,
          id: `bk_${String(index + 1).padStart(32, "0")}`,
          reference: `REF${index}`,
          userId: "ada",
          flightId,
          status: "confirmed",
          seats: 1,
          totalMinor: 100,
          currency: "USD",
          contactEmail: "ada@example.com",
          paymentMethod: "card",
          createdAt,
          updatedAt: createdAt,
          confirmedAt: createdAt,
        } as const;
        return app.services.storage.atomically(write(insertBooking, row));
      }),
    );
  };
  const addFlights = async (count: number): Promise<void> => {
    for (let number = 1; number <= count; number += 1) {
      const plan = flightPlan(app, { flightNumber: `SK${number}` });
      // All at the same time: the id decides, numerically (10 is more than 9).
      const createdAt = new Date(app.clock.now() + Math.floor(number / 7));
      await app.services.storage.atomically(write(insertFlight, { ...plan, createdAt }));
    }
  };
  const list = async (query: string, variables: Record<string, unknown>) =>
    at(await dataOf(app, "admin", query, variables), "list");
  const idsOf = (connection: unknown) =>
    listAt(connection, "edges").map((edge) => at(edge, "node", "id"));

  test("pages in both directions with the cursors of REST", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 30 }),
        fc.integer({ min: 1, max: 9 }),
        fc.constantFrom("forward", "backward"),
        async (times, limit, direction) => {
          await app.restart();
          await addBookings(times);
          const isForward = direction === "forward";
          let cursor: string | null = null;
          const seen: unknown[] = [];
          for (;;) {
            const search = new URLSearchParams({ limit: String(limit), direction });
            if (cursor !== null) search.set("cursor", cursor);
            const rest = await json(await app.as("admin", `/v1/api/bookings?${search.toString()}`));
            const connection = await list(
              bookingsQuery,
              isForward ? { first: limit, after: cursor } : { last: limit, before: cursor },
            );
            const ids = idsOf(connection);
            expect(ids).toEqual(listAt(rest, "data").map((booking) => at(booking, "id")));
            const info = at(connection, "pageInfo");
            expect(info).toMatchObject({
              startCursor: at(rest, "pagination", "prevCursor") ?? null,
              endCursor: at(rest, "pagination", "nextCursor") ?? null,
            });
            const more = at(info, isForward ? "hasNextPage" : "hasPreviousPage");
            expect(more).toBe(at(rest, "pagination", "hasMore"));
            // The flag for the opposite direction is exact too.
            const other = at(info, isForward ? "hasPreviousPage" : "hasNextPage");
            expect(other).toBe(seen.length > 0);
            expect(at(connection, "totalCount")).toBe(times.length);
            expect(listAt(connection, "edges").at(-1) ?? { cursor: null }).toMatchObject({
              cursor: at(info, "endCursor"),
            });
            seen.push(...ids);
            if (more !== true) break;
            cursor = String(at(info, isForward ? "endCursor" : "startCursor"));
          }
          expect(new Set(seen).size).toBe(times.length);
        },
      ),
      { numRuns: runs(25) },
    );
  });

  test("of flights is ordered by numeric id, also in its cursors", async () => {
    await addFlights(23);
    const all = await list(flightsQuery, { first: 100 });
    const rows = idsOf(all).map(Number);
    const walked: number[] = [];
    let after: unknown = null;
    for (let more: unknown = true; more === true;) {
      const connection = await list(flightsQuery, { first: 4, after });
      walked.push(...idsOf(connection).map(Number));
      more = at(connection, "pageInfo", "hasNextPage");
      after = at(connection, "pageInfo", "endCursor");
    }
    expect(walked).toEqual(rows);
    expect(rows).toEqual(rows.toSorted((one, other) => other - one));
    const cursor = String(at(all, "edges", 0, "cursor"));
    const written: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    const id: Flight["id"] = 23;
    expect(written).toMatchObject({ id });
    const bookings = await ask(app, "admin", bookingsQuery, { first: 1, after: cursor });
    expect(at(bookings, "errors", 0, "extensions", "code")).toBe("invalid-cursor");
  });

  test("reports whether items precede an empty page", async () => {
    await addBookings([1, 2, 3]);
    const [newest, , oldest] = listAt(await list(bookingsQuery, {}), "edges").map((edge) =>
      at(edge, "cursor"),
    );
    const flags = async (variables: Record<string, unknown>) => {
      const { hasNextPage, hasPreviousPage, startCursor, endCursor } = {
        hasNextPage: null,
        hasPreviousPage: null,
        startCursor: "",
        endCursor: "",
        ...Object(at(await list(bookingsQuery, variables), "pageInfo")),
      };
      expect([startCursor, endCursor]).toEqual([null, null]);
      return [hasPreviousPage, hasNextPage];
    };
    expect(await flags({ first: 5, after: oldest })).toEqual([true, false]);
    expect(await flags({ last: 5, before: newest })).toEqual([false, true]);
    expect(await flags({ first: 0 })).toEqual([false, true]);
    expect(await flags({ first: 0, after: newest })).toEqual([true, true]);
    expect(await flags({ last: 0, before: newest })).toEqual([false, true]);
    const future = Buffer.from(
      JSON.stringify({ createdAt: "2030-01-01T00:00:00.000Z", id: "bk_1" }),
    ).toString("base64url");
    expect(await flags({ first: 0, after: future })).toEqual([false, true]);
    expect(
      await flags({ last: 1, before: future.replace(/.$/, "") + "" }).catch(() => "fault"),
    ).toBe("fault");
    await app.restart();
    expect(await flags({})).toEqual([false, false]);
    expect(await flags({ first: 5, after: future })).toEqual([false, false]);
  });

  const rejects = async (variables: object, code: string, parameter: string) => {
    const { errors, data } = await ask(app, "admin", bookingsQuery, { ...variables });
    expect(data).toBeNull();
    expect(errors).toMatchObject([{ extensions: { code, status: 400, errors: [{ parameter }] } }]);
  };

  const cursor = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  test.each([
    ["first below 0", { first: -1 }, "first"],
    ["last below 0", { last: -1 }, "last"],
    ["first and last", { first: 1, last: 1 }, "first"],
    ["first and before", { first: 1, before: cursor({}) }, "first"],
    ["last and after", { last: 1, after: cursor({}) }, "after"],
    ["after and before", { after: cursor({}), before: cursor({}) }, "after"],
  ])("rejects %s as invalid-parameter", async (_, variables, parameter) => {
    await rejects(variables, "invalid-parameter", parameter);
  });

  test.each([
    ["a malformed cursor", { after: "x" }, "after"],
    ["an empty cursor", { after: "" }, "after"],
    [
      "another list's cursor",
      { after: cursor({ createdAt: "2026-11-21T09:00:00.000Z", id: "evt_1" }) },
      "after",
    ],
    [
      "a cursor with a numeric id",
      { before: cursor({ createdAt: "2026-11-21T09:00:00.000Z", id: 1 }) },
      "before",
    ],
    [
      "a cursor without an id in before",
      { before: cursor({ createdAt: "2026-11-21T09:00:00.000Z" }) },
      "before",
    ],
  ])("rejects %s as invalid-cursor", async (_, variables, parameter) => {
    await rejects(variables, "invalid-cursor", parameter);
  });

  test("accepts null arguments, sizes of 0 and above 100, and a cursor without an id", async () => {
    await addBookings([...Array(105).keys()]);
    const nothing = { first: null, last: null, after: null, before: null };
    expect(idsOf(await list(bookingsQuery, nothing))).toHaveLength(20);
    for (const size of [100, 101, 2_147_483_647]) {
      expect(idsOf(await list(bookingsQuery, { first: size }))).toHaveLength(100);
      expect(idsOf(await list(bookingsQuery, { last: size }))).toHaveLength(100);
    }
    expect(idsOf(await list(bookingsQuery, { first: 0 }))).toHaveLength(0);
    const after = cursor({ createdAt: "2026-11-21T00:00:00.003Z" });
    expect(idsOf(await list(bookingsQuery, { after }))).toHaveLength(3);
  });
});
