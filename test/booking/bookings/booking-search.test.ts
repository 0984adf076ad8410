import { describe, expect, test } from "bun:test";

import { positionIn } from "../../../src/base/ids.ts";
import { insertDisclosure } from "../../../src/booking/personal-data/personal-data.sql.ts";
import { write } from "../../../src/db/statement.ts";
import { deleteSettledEvents } from "../../../src/events/retention/retention.sql.ts";
import { json, jsonWith } from "../../support/app.ts";
import { addFlight, bookingBody, passenger, post } from "../../support/flights.ts";
import { itemsOf, listed } from "../../support/operator.ts";
import { appPerTest } from "../../support/running-app.ts";

const app = appPerTest();

/** Makes a booking and returns the response's body. */
async function book(fields: Record<string, unknown> = {}, bearer?: string) {
  const flight = await addFlight(app);
  const request = post({ ...bookingBody(flight.id, 2), ...fields });
  return json(await app.as("user", "/v1/api/bookings", request, bearer));
}
const found = async (q: string) =>
  (await listed(app, `/v1/api/bookings?q=${encodeURIComponent(q)}`, "admin")).map(({ id }) => id);
const read = async (id: unknown) => json(await app.as("admin", `/v1/api/bookings/${String(id)}`));

describe("GET /v1/api/bookings?q=", () => {
  test("finds any user's booking by id, reference or e-mail address, ignoring case", async () => {
    const ada = await book({ contactEmail: "Ada.L@Example.com" }, "one user");
    const bob = await book({ contactEmail: "bob@example.com" }, "another user");
    const [id, reference] = [ada["bookingId"], String(ada["reference"])];
    for (const q of [
      String(id),
      reference,
      reference.toLowerCase(),
      ` ${reference} `,
      "Ada.L@Example.com",
      "ada.l@example.COM",
    ]) {
      expect(await found(q)).toEqual([id]);
    }
    for (const q of [
      "bk_0",
      "AAAAAA",
      "nobody@example.com",
      "ada",
      "%",
      "ada.l@example.com%",
      "'",
    ]) {
      expect(await found(q)).toEqual([]);
    }
    const all = await listed(app, "/v1/api/bookings", "admin");
    expect(new Set(all.map((booking) => booking["id"]))).toEqual(new Set([id, bob["bookingId"]]));
  });

  test("finds bookings by flight number or a passenger's last name, each once", async () => {
    const named = (n: number, lastName: string) => ({ ...passenger(n), lastName });
    const ada = await book({ passengers: [named(1, "Byron"), named(2, "Hopper-Ö'Brien")] }, "a");
    const bob = await book({ passengers: [named(1, "Miller"), named(2, "MILLER")] }, "b");
    const flightOf = async (made: typeof ada) => {
      const { flight } = await json(
        await app.as("admin", `/v1/api/bookings/${String(made["bookingId"])}`),
      );
      return String(Object(flight).flightNumber);
    };
    expect(await found("miller")).toEqual([bob["bookingId"]]);
    expect(await found("hopper-Ö'brien")).toEqual([ada["bookingId"]]);
    expect(await found("Hopper-O\u0308'Brien")).toEqual([ada["bookingId"]]);
    expect(await found("HOPPER-ö'brien")).toEqual([ada["bookingId"]]);
    expect(await found("Hopper")).toEqual([]);
    expect(await found((await flightOf(ada)).toLowerCase())).toContain(ada["bookingId"]);
    expect(await found("SK")).toEqual([]);
    const total = await json(await app.as("admin", "/v1/api/bookings?q=MILLER&include=total"));
    expect(total["pagination"]).toMatchObject({ total: 1 });
    expect(await listed(app, "/v1/api/bookings?q=miller&userId=a", "admin")).toEqual([]);
  });

  test.each([
    ["Éluard", ["éluard", "ÉLUARD", "e\u0301luard"]],
    ["ДОСТОЕВСКИЙ", ["Достоевский", "достоевскиЙ"]],
    ["Straße", ["STRASSE", "strasse", "STRAßE"]],
    ["Παπαδόπουλος", ["ΠΑΠΑΔΌΠΟΥΛΟΣ", "παπαδόπουλοσ"]],
    ["Ödön", ["ÖDÖN", "ödöN"]],
    ["Smith", ["SMITH", "smith"]],
  ])("finds the last name %s whatever its case", async (lastName, forms) => {
    const { bookingId } = await book({ passengers: [{ ...passenger(1), lastName }] });
    for (const form of [lastName, ...forms]) expect(await found(form)).toEqual([bookingId]);
    expect(await found(`${lastName}x`)).toEqual([]);
  });

  test("returns a list of one item for an id, with empty pages beside it", async () => {
    const { bookingId } = await book();
    const path = `/v1/api/bookings?include=total&q=${String(bookingId)}`;
    const { pagination } = await json(await app.as("admin", path));
    const page = { ...Object(pagination) };
    expect(page).toMatchObject({ hasMore: false, total: 1 });
    expect(await listed(app, `${path}&cursor=${String(page.nextCursor)}`, "admin")).toEqual([]);
    expect(await listed(app, `${path}&page=2`, "admin")).toEqual([]);
  });

  test.each(["q=", "q=%20", "q=a&q=b", `q=${"x".repeat(255)}`])("?%s is 400", async (query) => {
    expect(await jsonWith(await app.as("admin", `/v1/api/bookings?${query}`), 400)).toMatchObject({
      code: "invalid-parameter",
      errors: [{ parameter: "q" }],
    });
  });

  test.each(["user", "operator"] as const)("is 403 for the role %s", async (role) => {
    for (const query of ["q=KXQWZA", "userId=somebody-else", "userId=somebody-else&q=bk_0"]) {
      const response = await app.as(role, `/v1/api/bookings?${query}`);
      expect(await jsonWith(response, 403)).toMatchObject({ code: "insufficient-scope" });
    }
    expect((await app.as(role, `/v1/api/bookings?userId=test-${role}`)).status).toBe(200);
  });

  test("searches only the bookings of the user in userId", async () => {
    const { bookingId, reference } = await book({}, "ada");
    for (const q of [bookingId, reference, "ada@example.com"]) {
      const of = (userId: string) =>
        listed(app, `/v1/api/bookings?q=${String(q)}&userId=${userId}`, "admin");
      expect((await of("ada")).map(({ id }) => id)).toEqual([bookingId]);
      expect(await of("bob")).toEqual([]);
    }
  });
});

describe("GET /v1/api/bookings/{id} for an admin", () => {
  test("returns the booking as its owner sees it, plus its history", async () => {
    const { bookingId } = await book();
    const own = await json(await app.as("user", `/v1/api/bookings/${String(bookingId)}`));
    expect(own).not.toHaveProperty("history");
    const { history, ...booking } = await read(bookingId);
    expect(booking).toEqual(own);
    expect(JSON.stringify(booking)).toContain('"*****02"');
    expect(history).toEqual([
      {
        at: booking["createdAt"],
        type: "booking.confirmed",
        title: "Booked: 2 seats for USD 999.00",
        actor: "test-user",
        eventId: expect.stringMatching(/^evt_/),
        webhook: null,
        notifications: [expect.objectContaining({ status: "delivered" })],
      },
    ]);
    const [{ eventId } = {}] = itemsOf(history);
    expect(await json(await app.as("operator", `/v1/events/${String(eventId)}`))).toMatchObject({
      type: "booking.confirmed",
      subject: `booking/${String(bookingId)}`,
    });
  });

  test("lists cancellation, refund and revealed passports in the history, oldest first", async () => {
    const { bookingId } = await book();
    app.clock.advance(60_000);
    await app.services.storage.atomically(
      write(insertDisclosure, {
        id: "dis_1",
        bookingId: `bk_${String(bookingId).slice(3)}`,
        actor: "root",
        reason: "a lost passport",
        createdAt: new Date(app.clock.now()),
      }),
    );
    app.clock.advance(60_000);
    await app.as("admin", `/v1/api/bookings/${String(bookingId)}`, { method: "DELETE" });
    const { history, cancellation } = await read(bookingId);
    expect(cancellation).toMatchObject({ status: "cancelled" });
    expect(itemsOf(history).map(({ type, title, actor }) => [type, title, actor])).toEqual([
      ["booking.confirmed", "Booked: 2 seats for USD 999.00", "test-user"],
      ["passport.revealed", "Passports revealed: a lost passport", "root"],
      ["booking.cancelled", "Cancelled; seats released", "test-admin"],
      [
        "refund.pending",
        expect.stringMatching(/^Refund of USD 999\.00 \(100 %\) pending: ./),
        null,
      ],
    ]);
  });

  test("keeps the history after retention has deleted the event", async () => {
    const { bookingId } = await book();
    const [entry] = itemsOf((await read(bookingId))["history"]);
    const id = `evt_${String(entry?.["eventId"]).slice(4)}` as const;
    await app.services.storage.atomically(
      write(deleteSettledEvents, { positions: [positionIn(id)] }),
    );
    expect((await read(bookingId))["history"]).toEqual([
      { ...entry, actor: "test-user", eventId: null, notifications: [] },
    ]);
  });

  test.each(["bk_0", "nonsense", "bk_%00", "KXQWZA"])(
    "is 404 for the unknown id %s",
    async (id) => {
      const response = await app.as("admin", `/v1/api/bookings/${id}`);
      expect(await jsonWith(response, 404)).toMatchObject({ code: "booking-not-found" });
    },
  );
});
