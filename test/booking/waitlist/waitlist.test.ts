import { describe, expect, test } from "bun:test";

import { upsertFlight } from "../../../src/booking/flights/flights.sql.ts";
import { cancelFlight } from "../../../src/booking/flights/import-flights.sql.ts";
import { firstThatFit } from "../../../src/booking/waitlist/line.ts";
import { write } from "../../../src/db/statement.ts";
import { json, jsonWith } from "../../support/app.ts";
import { bookingCalls, eventsAbout, expire } from "../../support/bookings.ts";
import { addFlight, bookingBody, flightPlan, post, seatsLeft } from "../../support/flights.ts";
import { untilLater } from "../../support/notifying.ts";
import { listed } from "../../support/operator.ts";
import { holdSeat, payer } from "../../support/payments.ts";
import { appForAll } from "../../support/running-app.ts";

const path = "/v1/api/waitlist";
const minuteMs = 60_000;
const offerMs = 15 * minuteMs;
const app = appForAll({ WAITLIST_OFFER_MINUTES: "15" });
const { book, cancel } = bookingCalls(app);

let flights = 0;

/** A flight whose seats are all sold to `ada`, in bookings of so many seats. */
async function soldOut(...bookings: readonly number[]) {
  flights += 1;
  const seats = bookings.reduce((sum, each) => sum + each, 0);
  const flight = await addFlight(app, { flightNumber: `WL${flights}`, seats });
  const ids: string[] = [];
  for (const passengers of bookings) {
    const made = await jsonWith(await book(flight.id, passengers), 201);
    ids.push(String(made["bookingId"]));
  }
  return { flight, bookings: ids };
}

const request = (who: string, body: object) => app.as("user", path, post(body), who);

async function join(who: string, flightId: number, seats = 1, more: object = {}): Promise<string> {
  const made = await jsonWith(await request(who, { flightId, seats, ...more }), 201);
  return String(made["id"]);
}

const read = async (id: string) => json(await app.as("admin", `${path}/${id}`));
const leave = (id: string, who: string) =>
  app.as("user", `${path}/${id}`, { method: "DELETE" }, who);

async function statusesOf(ids: readonly string[]): Promise<string> {
  const entries = await Promise.all(ids.map(read));
  return entries.map(({ status }) => String(status)).join(" ");
}

/** Lets time pass in small steps, because a look at the database may be under way. */
const statusesBecome = (ids: readonly string[], expected: string) =>
  untilLater(app, async () => (await statusesOf(ids)) === expected, 100);

const eventsOf = async (id: string) =>
  (await eventsAbout(app, `waitlist/${id}`)).map(({ type }) => type);

test.each([
  ["nobody waits", [], 3, [], 3],
  ["the first fits", [2, 1], 2, [0], 0],
  ["the first does not fit, and who comes after it does", [3, 2, 1], 2, [1], 0],
  ["several fit", [1, 4, 2, 1], 4, [0, 2, 3], 0],
  ["seats are left over", [3, 3], 5, [0], 2],
  ["nothing is free", [1], 0, [], 0],
] as const)("the line is served in order: %s", (_, seats, free, chosen, left) => {
  const line = seats.map((each, index) => ({ seats: each, index }));
  const result = firstThatFit(line, free);
  expect(result.chosen.map(({ index }) => index)).toEqual([...chosen]);
  expect(result.left).toBe(left);
});

describe("joining", () => {
  test("returns the entry with its place in line, once per key", async () => {
    const { flight } = await soldOut(2);
    await join("bea", flight.id, 2);
    const body = post({ flightId: flight.id, seats: 1 }, { "idempotency-key": "w1" });
    const first = await app.as("user", path, body, "cyd");
    const entry = await jsonWith(first, 201);
    expect(first.headers.get("location")).toBe(`${path}/${String(entry["id"])}`);
    expect(entry).toMatchObject({
      userId: "cyd",
      seats: 1,
      status: "waiting",
      position: 2,
      until: new Date(flight.departureTime.getTime() - 60 * minuteMs).toISOString(),
      offeredAt: null,
      offerExpiresAt: null,
      flight: { id: flight.id },
    });
    const again = await app.as("user", path, body, "cyd");
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await jsonWith(again, 201)).toEqual(entry);
  });

  test("is refused where it makes no sense", async () => {
    const { flight } = await soldOut(2);
    const half = await addFlight(app, { flightNumber: "WLH", seats: 2 });
    const departureTime = new Date(app.clock.now() + 59 * minuteMs);
    const closed = await addFlight(app, { flightNumber: "WLC", departureTime });
    await join("dan", flight.id);
    const past = new Date(app.clock.now()).toISOString();
    const table = [
      [{ flightId: flight.id, seats: 1 }, 409, "already-waiting"],
      [{ flightId: half.id, seats: 2 }, 409, "seats-available"],
      [{ flightId: half.id, seats: 3 }, 422, "validation-failed"],
      [{ flightId: 999_999, seats: 1 }, 404, "flight-not-found"],
      [{ flightId: closed.id, seats: 1 }, 422, "booking-closed"],
      [{ flightId: flight.id, seats: 10 }, 422, "validation-failed"],
      [{ flightId: flight.id, seats: "1" }, 400, "invalid-body"],
      [{ flightId: flight.id }, 422, "validation-failed"],
      [{ flightId: flight.id, seats: 1, until: past }, 422, "validation-failed"],
      [{ flightId: flight.id, seats: 1, until: "tomorrow" }, 422, "validation-failed"],
    ] as const;
    for (const [body, status, code] of table) {
      expect(
        await jsonWith(await request("dan", body), status),
        JSON.stringify(body),
      ).toMatchObject({ code });
    }
    const available = await json(await request("dan", { flightId: half.id, seats: 2 }));
    expect(available["seatsAvailable"]).toBe(2);
  });

  test("is limited to ten open entries, also at the same time", async () => {
    const full = await Promise.all(Array.from({ length: 13 }, () => soldOut(1)));
    const answers = await Promise.all(
      full.map(({ flight }) => request("eve", { flightId: flight.id, seats: 1 })),
    );
    const made = answers.filter(({ status }) => status === 201);
    expect(made.length).toBe(10);
    expect(answers.filter(({ status }) => status === 422).length).toBe(3);
    const [entry] = await Promise.all(made.map(json));
    await leave(String(entry?.["id"]), "eve");
    const { flight } = await soldOut(1);
    await join("eve", flight.id);
  });

  test("at the same time makes one entry per user, each with a place of its own", async () => {
    const { flight } = await soldOut(1);
    const users = ["ann", "bob", "cas", "ann", "bob", "cas"];
    const answers = await Promise.all(
      users.map((who) => request(who, { flightId: flight.id, seats: 1 })),
    );
    const made = answers.filter(({ status }) => status === 201);
    expect([made.length, answers.filter(({ status }) => status === 409).length]).toEqual([3, 3]);
    const entries = await listed(app, `${path}?flightId=${flight.id}`, "admin");
    expect(entries.map(({ position }) => Number(position)).toSorted((a, b) => a - b)).toEqual([
      1, 2, 3,
    ]);
  });
});

describe("an offer", () => {
  test("is made by the transaction that frees seats, and taken by booking the flight", async () => {
    const { flight, bookings } = await soldOut(2, 1);
    const ids = [await join("big", flight.id, 3), await join("two", flight.id, 2)];
    ids.push(await join("one", flight.id, 1));
    await cancel(bookings[0]);
    expect(await statusesOf(ids)).toBe("waiting offered waiting");
    const offer = await read(ids[1] ?? "");
    const offerExpiresAt = new Date(app.clock.now() + offerMs).toISOString();
    expect(offer).toMatchObject({ position: null, offerExpiresAt });
    expect((await read(ids[2] ?? ""))["position"]).toBe(2);
    expect(await seatsLeft(app, flight.id)).toBe(0);
    expect(await jsonWith(await book(flight.id, 1), 409)).toMatchObject({ seatsAvailable: 0 });
    expect(await jsonWith(await book(flight.id, 3, {}, "two"), 409)).toMatchObject({
      seatsAvailable: 2,
    });
    await jsonWith(await book(flight.id, 2, {}, "two"), 201);
    expect(await statusesOf(ids)).toBe("waiting booked waiting");
    expect(await seatsLeft(app, flight.id)).toBe(0);
    expect(await eventsOf(ids[1] ?? "")).toEqual(["waitlist.offered"]);
    expect(await jsonWith(await book(flight.id, 1, {}, "two"), 409)).toMatchObject({
      code: "no-seats",
    });
  });

  test("can be taken by a hold, and what it leaves goes to the next in line", async () => {
    const { flight, bookings } = await soldOut(3);
    const ids = [await join("bea", flight.id, 3), await join("cyd", flight.id, 2)];
    await cancel(bookings[0]);
    const hold = post({ ...bookingBody(flight.id, 1), hold: true });
    const made = await jsonWith(await app.as("user", "/v1/api/bookings", hold, "bea"), 201);
    expect(made["status"]).toBe("held");
    await statusesBecome(ids, "booked offered");
    expect(await seatsLeft(app, flight.id)).toBe(0);
    // The seat of a hold that is not paid goes to who is next, too.
    const next = await join("dan", flight.id);
    app.clock.advance(20 * minuteMs);
    await statusesBecome([next], "offered");
  });

  test.each([
    ["is not taken in time", "expired", ["waitlist.offered", "waitlist.expired"]],
    ["is left", "left", ["waitlist.offered"]],
  ] as const)("goes to the next in line when it %s", async (_, ended, events) => {
    const { flight, bookings } = await soldOut(2);
    const ids = [await join("bea", flight.id, 2), await join("cyd", flight.id, 1)];
    await cancel(bookings[0]);
    expect(await statusesOf(ids)).toBe("offered waiting");
    if (ended === "left") await leave(ids[0] ?? "", "bea");
    else app.clock.advance(offerMs);
    await statusesBecome(ids, `${ended} offered`);
    expect(await seatsLeft(app, flight.id)).toBe(1);
    expect(await eventsOf(ids[0] ?? "")).toEqual([...events]);
    expect(await jsonWith(await leave(ids[0] ?? "", "bea"), 200)).toMatchObject({ status: ended });
    // Who has lost an offer joins the end of the line.
    await jsonWith(await book(flight.id), 201);
    await join("bea", flight.id);
  });

  test("ends when sales end, and so does the wait", async () => {
    const departureTime = new Date(app.clock.now() + 70 * minuteMs);
    const flight = await addFlight(app, { flightNumber: "WLE", departureTime, seats: 1 });
    const { bookingId } = await jsonWith(await book(flight.id), 201);
    const early = new Date(app.clock.now() + 2 * minuteMs).toISOString();
    const ids = [await join("bea", flight.id, 1, { until: early })];
    ids.push(await join("cyd", flight.id), await join("dan", flight.id));
    app.clock.advance(3 * minuteMs);
    await statusesBecome(ids, "expired waiting waiting");
    expect(await eventsOf(ids[0] ?? "")).toEqual(["waitlist.expired"]);
    await cancel(bookingId);
    const end = new Date(departureTime.getTime() - 60 * minuteMs).toISOString();
    expect((await read(ids[1] ?? ""))["offerExpiresAt"]).toBe(end);
    app.clock.advance(10 * minuteMs);
    await statusesBecome(ids, "expired expired expired");
    expect(await seatsLeft(app, flight.id)).toBe(1);
  });

  test("follows an import that adds seats, and nobody else gets them before", async () => {
    const { flight } = await soldOut(1);
    const id = await join("bea", flight.id);
    const plan = flightPlan(app, { ...flight, seats: 2 });
    const createdAt = new Date(app.clock.now());
    await app.services.storage.atomically(write(upsertFlight, { ...plan, createdAt }));
    expect(await seatsLeft(app, flight.id)).toBe(1);
    expect(await jsonWith(await book(flight.id), 409)).toMatchObject({ seatsAvailable: 0 });
    await join("cyd", flight.id);
    await statusesBecome([id], "offered");
    await jsonWith(await book(flight.id, 1, {}, "bea"), 201);
  });

  test("ends with a flight that is cancelled, and so does the wait", async () => {
    const { flight, bookings } = await soldOut(1, 1);
    const ids = [await join("bea", flight.id), await join("cyd", flight.id)];
    await cancel(bookings[0]);
    const { storage } = app.services;
    const cancelledAt = new Date(app.clock.now());
    await storage.atomically(write(cancelFlight, { flightId: flight.id, cancelledAt }));
    await statusesBecome(ids, "expired expired");
    expect(
      await jsonWith(await request("dan", { flightId: flight.id, seats: 2 }), 422),
    ).toMatchObject({ code: "booking-closed" });
  });

  test("comes before a late payment, whose booking has lost its seat", async () => {
    const { flight, bookings } = await soldOut(1, 1);
    const wait = await join("bea", flight.id, 2);
    await cancel(bookings[0]);
    const held = await holdSeat(app, flight.id);
    await expire(app, held);
    // One seat is free, for which nobody waits yet.
    await leave(wait, "bea");
    const { storage } = app.services;
    const line = await join("cyd", flight.id, 2);
    const plan = flightPlan(app, { ...flight, seats: 3 });
    await storage.atomically(
      write(upsertFlight, { ...plan, createdAt: new Date(app.clock.now()) }),
    );
    await payer(app)("payment_intent.succeeded", { booking: held });
    expect(await json(await app.as("admin", `/v1/api/bookings/${held}`))).toMatchObject({
      status: "expired",
    });
    await statusesBecome([line], "offered");
  });

  test("goes to the same users when the clock is set back", async () => {
    const { flight, bookings } = await soldOut(1);
    const ids = [await join("bea", flight.id)];
    app.clock.jump(-30 * minuteMs);
    ids.push(await join("cyd", flight.id));
    await cancel(bookings[0]);
    expect(await statusesOf(ids)).toBe("offered waiting");
    app.clock.jump(30 * minuteMs + offerMs);
    await statusesBecome(ids, "expired offered");
  });

  test("is made for each seat when many are cancelled at once", async () => {
    const { flight, bookings } = await soldOut(...Array.from({ length: 9 }, () => 1));
    const ids: string[] = [];
    for (let user = 0; user < 12; user += 1) ids.push(await join(`u${user}`, flight.id));
    await Promise.all(bookings.map((id) => cancel(id)));
    const expected = [
      ...ids.slice(0, 9).map(() => "offered"),
      ...ids.slice(9).map(() => "waiting"),
    ];
    await statusesBecome(ids, expected.join(" "));
    expect(await seatsLeft(app, flight.id)).toBe(0);
    for (const id of ids.slice(0, 9)) expect(await eventsOf(id)).toEqual(["waitlist.offered"]);
  });
});

describe("GraphQL", () => {
  test("joins, lists and leaves", async () => {
    const { flight } = await soldOut(1);
    const query = async (text: string, variables: object = {}) => {
      const response = await app.as("user", "/graphql", post({ query: text, variables }), "gus");
      return (await json(response))["data"];
    };
    const input = { flightId: flight.id, seats: 1, until: null };
    const joined = await query(
      `mutation ($input: JoinWaitlistInput!) {
        joinWaitlist(input: $input) { id entryId status position flight { flightId } }
      }`,
      { input },
    );
    expect(joined).toMatchObject({
      joinWaitlist: { status: "waiting", position: 1, flight: { flightId: flight.id } },
    });
    const { joinWaitlist: made }: { readonly joinWaitlist?: { id: string; entryId: string } } =
      Object(joined);
    const fields = "... on WaitlistEntry { entryId status user { name } }";
    const found = await query(
      `query ($id: ID!) {
        node(id: $id) { ${fields} }
        waitlist(flightId: "${flight.id}", status: waiting) { nodes: edges { node { entryId } } totalCount }
      }`,
      { id: made?.id },
    );
    const entryId = made?.entryId;
    expect(found).toEqual({
      node: { entryId, status: "waiting", user: null },
      waitlist: { nodes: [{ node: { entryId } }], totalCount: 1 },
    });
    const left = "mutation ($id: ID!) { leaveWaitlist(entryId: $id) { status position } }";
    const expected = { leaveWaitlist: { status: "left", position: null } };
    expect(await query(left, { id: entryId })).toEqual(expected);
    expect(await query(left, { id: entryId })).toEqual(expected);
  });
});
