import { describe, expect, test } from "bun:test";

import type { Context } from "../../src/base/context.ts";
import { sha256 } from "../../src/base/crypto.ts";
import { nextTurn } from "../../src/base/own-turn.ts";
import { personalDataOpener } from "../../src/booking/personal-data/personal-data.ts";
import { copies } from "../../src/cli/host/copy-tables.sql.ts";
import { write as storageWrite } from "../../src/db/statement.ts";
import { insertErasure } from "../../src/identity/users/erasures.sql.ts";
import type { User } from "../../src/identity/users/user.ts";
import { exportRows } from "../../src/persons/export-person.ts";
import * as finding from "../../src/persons/found-persons.sql.ts";
import { json, jsonWith } from "../support/app.ts";
import { bookingCalls, bookingsPath } from "../support/bookings.ts";
import { failure } from "../support/failure.ts";
import { addFlight, bookingBody, passenger, post } from "../support/flights.ts";
import { contextOf } from "../support/operator.ts";
import { planOnSqlite } from "../support/plans.ts";
import { appPerTest } from "../support/running-app.ts";

const email = "ada.canary@example.com";
const name = "Ada Canaryson";
/** What must be found nowhere after an erasure. */
const canaries = [email, "Canaryson", "Grete"];
const hourMs = 3_600_000;

const app = appPerTest({ DESTINATIONS_ALLOW_PRIVATE: "true" });
const { book, cancel, get } = bookingCalls(app);
const admin: Context = {
  actor: { id: "test-admin", roles: ["admin"] },
  expiresAt: new Date(Number.MAX_SAFE_INTEGER / 2),
  requestId: "",
};

const travellers = [
  { ...passenger(1), firstName: "Ada", lastName: "Canaryson", email },
  { ...passenger(2), firstName: "Grete", lastName: "Companion", email: "grete@example.com" },
];

/** A user with a row in every table that can have one of theirs, whose flight leaves in two hours. */
async function person(): Promise<{
  readonly user: User;
  readonly own: unknown;
  readonly other: unknown;
}> {
  const { user } = await app.services.users.ensureUser({ name, email });
  const departureTime = new Date(app.clock.now() + 2 * hourMs);
  const { id } = await addFlight(app, { departureTime });
  // Before the bookings, whose events it receives.
  const destination = { name: "mine", format: "json", url: "https://192.0.2.1/" };
  await jsonWith(await app.as("user", "/v1/destinations", post(destination), user.id), 201);
  const send = (body: object, who: string, key: string) =>
    app.as("user", bookingsPath, post(body, { "idempotency-key": key }), who);
  const body = bookingBody(id);
  const own = await json(
    await send({ ...body, passengers: travellers, contactEmail: email }, user.id, "own"),
  );
  const other = await json(
    await send({ ...body, passengers: [passenger(3), travellers[0]] }, "bo", "other"),
  );
  await json(await send({ ...body, passengers: [passenger(4)], contactEmail: email }, "bo", "for"));
  return { user, own: own["bookingId"], other: other["bookingId"] };
}

/** All rows of the database as text, with bodies as they were sent. */
async function everything(): Promise<string> {
  const rows = await Promise.all(
    copies.map(({ pages }) => app.services.storage.all(pages.first, { limit: 1_000 })),
  );
  return JSON.stringify(rows, (_, value: unknown) => {
    const isBytes =
      typeof value === "object" && value !== null && "data" in value && "type" in value;
    return isBytes && Array.isArray(value.data) ? Buffer.from(value.data).toString() : value;
  });
}

/** The rows of others, as text: those without the person. */
async function rowsOfOthers({ id }: User, ...bookings: readonly unknown[]): Promise<string[]> {
  const kept = copies.filter(({ name }) => !/^(?:deliveries|notifications|leases)$/.test(name));
  const rows = await Promise.all(
    kept.map(async ({ name, pages }) => {
      const all = await app.services.storage.all(pages.first, { limit: 1_000 });
      return all.map((row) => `${name} ${JSON.stringify(row)}`);
    }),
  );
  const own = [id, ...canaries, ...bookings.map(String)];
  return rows.flat().filter((row) => !own.some((text) => row.includes(text)));
}

const found = (text: string) => canaries.filter((canary) => text.includes(canary));
const rowCounts = (data: object) =>
  Object.fromEntries(
    Object.entries(data).map(([table, rows]) => [table, Array(rows).flat().length]),
  );
const inBody = (given: string) => post({ person: given });
const erase = (person: string, who?: string) =>
  app.as("admin", "/v1/persons/erase", inBody(person), who);
const find = (q: string) => app.as("admin", "/v1/persons/find", post({ q }));

describe("an export", () => {
  test("has all rows of a person, with the flights", async () => {
    const { user, own } = await person();
    await jsonWith(await app.as("operator", "/v1/sessions", post({ name: "agent" }), user.id), 201);
    const exported = await app.services.persons.export(admin, email.toUpperCase(), true);
    expect(exported.person).toEqual({ email: email.toUpperCase(), ids: [user.id] });
    expect(rowCounts(exported.data)).toEqual({
      users: 1,
      bookings: 2,
      passengers: 3,
      idempotency: 1,
      destinations: 1,
      audit: 2,
      sessions: 1,
    });
    expect(exported.data.bookings?.[0]).toMatchObject({ id: own, flight: { origin: "JFK" } });
    expect(exported.data.passengers?.[0]).toMatchObject({
      firstName: "Ada",
      dateOfBirth: "1990-04-12",
      passportNumber: "X0000001",
    });
    expect(JSON.stringify(exported)).not.toMatch(/sealed|requestHash|secretHash|"hash"/);
    // Passports were read in full, which the history of the booking says.
    expect(
      JSON.stringify(await json(await app.as("admin", `${bookingsPath}/${String(own)}`))),
    ).toContain("passport.revealed");
  });

  test("through the API masks passports, and is audited", async () => {
    const { user } = await person();
    const exported = await json(await app.as("admin", "/v1/persons/export", inBody(email)));
    expect(exported).toMatchObject({ isComplete: true });
    expect(JSON.stringify(exported)).toContain("*****01");
    expect(JSON.stringify(exported)).not.toMatch(/X0000001|1990-04-12/);
    const entry = { actor: "test-admin", action: "person.exported", subject: user.id };
    const audited = async () => json(await app.as("admin", "/v1/audit?action=person.*"));
    expect(await audited()).toMatchObject({ data: [entry] });
    // The id of a user whom only an identity provider knows can be an address.
    const address = "sub@idp.example.com";
    await book((await addFlight(app, { flightNumber: "SK3" })).id, 1, {}, address);
    app.clock.advance(1);
    await app.services.persons.export(admin, address);
    expect(await audited()).toMatchObject({ data: [{ ...entry, subject: "person" }, entry] });
  });

  test("of the caller has only what is under their own id", async () => {
    const { user } = await person();
    await app.services.persons.export(admin, email);
    const own = await json(await app.as("user", "/v1/me/export", {}, user.id));
    expect(rowCounts(Object(own["data"]))).toEqual({
      users: 1,
      bookings: 1,
      passengers: 2,
      idempotency: 1,
      destinations: 1,
      audit: 2,
    });
    expect(JSON.stringify(own)).not.toMatch(/X0000001|test-admin/);
    // Anyone can make a user with any address, so an address proves nothing.
    const impostor = await json(await app.as("user", "/v1/me/export", {}, "mallory"));
    expect(impostor).toMatchObject({ data: {} });
  });

  test("says if there is more than it has, and has what can be read without a key", async () => {
    const { user } = await person();
    const { storage } = app.services;
    const options = { onlyActor: null, seal: personalDataOpener([]) };
    const whom = { email, ids: [user.id] };
    for (const [maxRows, isComplete] of [
      [3, true],
      [2, false],
    ] as const) {
      const isRevealed = isComplete;
      const exported = await exportRows(storage, whom, { ...options, isRevealed, maxRows });
      expect(exported.isComplete).toBe(isComplete);
      const { passengers = [] } = exported.rows;
      expect(passengers).toHaveLength(maxRows);
      expect(passengers[0]).toMatchObject({ dateOfBirth: null, passportNumber: null });
    }
  });

  test("needs a person", async () => {
    const problem = await jsonWith(
      await app.as("admin", "/v1/persons/export", post({ person: "" })),
      422,
    );
    expect(problem).toMatchObject({ code: "validation-failed" });
  });
});

describe("an erasure", () => {
  test("is refused with the reference of a booking that has not flown, until it is cancelled", async () => {
    const { id } = await addFlight(app);
    const { user } = await app.services.users.ensureUser({ name, email });
    const { bookingId, reference } = await json(await book(id, 1, {}, user.id));
    const second = await json(await book(id, 1, {}, user.id));
    const refused = await jsonWith(await erase(user.id), 409);
    expect(refused).toMatchObject({ code: "open-bookings" });
    expect(refused["detail"]).toContain(`${String(reference)} (departs 2026-12-21T09:00`);
    expect(refused["detail"]).toContain(`, ${String(second["reference"])} (`);
    // Also where the person is a passenger of another user.
    expect((await erase("ada@example.com")).status).toBe(409);
    expect((await get(bookingId, user.id)).status).toBe(200);
    await cancel(bookingId, user.id);
    await cancel(second["bookingId"], user.id);
    const erased = await json(await erase(user.id));
    expect(erased).toMatchObject({ erased: { bookings: 2, passengers: 2, users: 1 } });
  });

  test("leaves nothing of the person in any table, and the money of bookings", async () => {
    const { user, own, other } = await person();
    const totals = async () => {
      const page = await json(await app.as("admin", bookingsPath));
      return Array(page["data"])
        .flat()
        .map((booking: unknown) => Object(booking).totalPrice);
    };
    const before = await totals();
    expect(found(await everything())).toEqual(canaries);
    app.clock.advance(3 * hourMs);
    const others = await rowsOfOthers(user, own);
    expect(others.length).toBeGreaterThan(5);
    const erasure = await app.services.persons.erase(admin, email);
    expect(erasure.erased).toEqual({
      bookings: 2,
      passengers: 3,
      idempotency: 1,
      destinations: 1,
      audit: 1,
      users: 1,
    });
    const text = await everything();
    expect(found(text)).toEqual([]);
    expect(text).not.toContain(user.id);
    // All that is not theirs is as before, such as the events of others.
    expect(await rowsOfOthers(user, own)).toEqual(expect.arrayContaining(others));
    expect(await totals()).toEqual(before);
    expect(await json(await app.as("admin", `${bookingsPath}/${String(own)}`))).toMatchObject({
      totalPrice: 999,
      contactEmail: "erased@erased.invalid",
      userId: expect.stringMatching(/^erased_/),
      passengers: [],
    });
    expect(await json(await get(other, "bo"))).toMatchObject({
      seats: 2,
      passengers: [{ email: "ada@example.com" }],
    });
    expect(await json(await app.as("admin", "/v1/audit?action=person.erased"))).toMatchObject({
      data: [{ actor: "test-admin", subject: "person" }],
    });
    // Again, as for any unknown person: an error, which writes nothing.
    const stored = await everything();
    for (const unknown of [email, user.id, "nobody@example.com"]) {
      const again = await erase(unknown);
      expect(await jsonWith(again, 404)).toMatchObject({ code: "not-found" });
    }
    expect(await everything()).toEqual(stored);
  });

  test("that another instance did just now keeps the user from writing anything", async () => {
    const { id: flightId } = await addFlight(app);
    const other = await addFlight(app, { flightNumber: "SK2" });
    const who = "sub-of-ada";
    const write = (path: string, body: unknown, init: RequestInit = {}) =>
      app.as("admin", path, { ...post(body), ...init }, who);
    const { bookingId } = await json(await write(bookingsPath, bookingBody(flightId, 2)));
    const path = `${bookingsPath}/${String(bookingId)}`;
    const { id: change } = await json(await write(`${path}/cancellation`, { passengers: [1] }));
    // As another process does, so that this one still accepts the token for some seconds.
    const tombstone = { id: sha256(who), createdAt: new Date(app.clock.now()) };
    await app.services.storage.atomically(storageWrite(insertErasure, tombstone));
    const before = await everything();
    const destination = { name: "mine", format: "json", url: "https://192.0.2.1/" };
    const requests: readonly [path: string, body: object, method?: string][] = [
      [bookingsPath, bookingBody(flightId)],
      [bookingsPath, { ...bookingBody(flightId), hold: true }],
      [path, {}, "DELETE"],
      [`${path}/cancellation`, { passengers: [2] }],
      [`${path}/changes`, { flightId: other.id }],
      [`${path}/changes/${String(change)}/confirm`, {}],
      [`${path}/changes/${String(change)}`, {}, "DELETE"],
      [`${path}/passengers/1`, { lastName: "X" }, "PATCH"],
      ["/v1/users", { name, email }],
      ["/v1/destinations", destination],
      ["/v1/sessions", { name: "agent" }],
      ["/v1/replays", { from: "2026-01-01T00:00:00Z" }],
      ["/v1/persons/export", { person: "ada@example.com" }],
    ];
    for (const [to, body, method = "POST"] of requests) {
      const { status } = await write(to, body, { method });
      expect([to, status]).toEqual([to, 401]);
    }
    expect((await write(bookingsPath, {}, { method: "GET", body: null })).status).toBe(200);
    expect(await everything()).toEqual(before);
  });

  test("and a booking at the same time: one of them is refused, and no row is left", async () => {
    const { id } = await addFlight(app, { seats: 500 });
    for (let round = 0; round < 32; round += 1) {
      const who = `racer-${round}`;
      const { bookingId } = await json(await book(id, 1, {}, who));
      await cancel(bookingId, who);
      const erasing = erase(who);
      // The booking begins at another moment of the erasure each time.
      for (let turn = 0; turn < 1.4 ** round; turn += 1) await nextTurn();
      const [erased, booked] = await Promise.all([erasing, book(id, 1, {}, who)]);
      expect(["200 401", "409 201"]).toContain(`${erased.status} ${booked.status}`);
      const { data } = await app.services.persons.export(admin, who);
      expect(data.bookings ?? []).toHaveLength(erased.status === 200 ? 0 : 2);
    }
  });

  test("of an admin by themselves, and of a passenger without an account, is audited without their names", async () => {
    const { id: flightId } = await addFlight(app);
    const made = await json(await book(flightId, 1, {}, "bo"));
    await cancel(made["bookingId"], "bo");
    const passengers = await erase("ada@example.com");
    expect(await jsonWith(passengers, 200)).toEqual({ erased: { passengers: 1, bookings: 1 } });
    await app.as("admin", "/v1/persons/export", inBody("nobody@example.com"), "root-2");
    await jsonWith(await erase("root-2", "root-2"), 200);
    expect((await erase("root-2", "root-2")).status).toBe(401);
    expect(await json(await app.as("admin", "/v1/audit?action=person.erased"))).toMatchObject({
      data: [{ actor: expect.stringMatching(/^erased_/) }, { actor: "test-admin" }],
    });
    expect(await everything()).not.toMatch(/root-2|"ada@example\.com/);
  });

  test.each(["cli:alice", "console:admin:Alice"])(
    "of the name %s, which has no token, lets others use that name",
    async (id) => {
      const operator: Context = { ...admin, actor: { id, roles: ["admin"] } };
      await app.services.persons.export(operator, "nobody@example.com");
      expect(await app.services.persons.erase(operator, id)).toEqual({ erased: { audit: 1 } });
      await app.services.persons.export(operator, "nobody@example.com");
    },
  );

  test.each([
    ["who has a hold", { hold: true }, true],
    ["who is only the contact", { contactEmail: email }, true],
    ["who travels", { passengers: [passenger(3), travellers[0]] }, true],
    ["whose seat was cancelled", { passengers: [passenger(3), travellers[0]] }, false],
  ] as const)("of a person %s waits for open bookings only", async (who, fields, isOpen) => {
    const { id } = await addFlight(app);
    const request = post({ ...bookingBody(id), ...fields });
    const { bookingId } = await json(await app.as("user", bookingsPath, request, "bo"));
    const path = `${bookingsPath}/${String(bookingId)}`;
    if (!isOpen) {
      const part = await app.as("user", `${path}/cancellation`, post({ passengers: [2] }), "bo");
      const { id: change } = await json(part);
      const confirmed = { method: "POST" };
      await app.as("user", `${path}/changes/${String(change)}/confirm`, confirmed, "bo");
    }
    const person = who === "who has a hold" ? "bo" : email;
    const erased = await app.as("admin", "/v1/persons/erase", inBody(person));
    expect(erased.status).toBe(isOpen ? 409 : 200);
  });

  test("ends the tokens of the user, who may register again", async () => {
    const { user } = await person();
    app.clock.advance(3 * hourMs);
    expect((await app.as("user", "/v1/api/bookings", {}, user.id)).status).toBe(200);
    await app.services.persons.erase(admin, email);
    const { id } = await addFlight(app);
    const after = await app.as("user", bookingsPath, post(bookingBody(id)), user.id);
    expect(await jsonWith(after, 401)).toMatchObject({ code: "invalid-token" });
    const { user: next, isNew } = await app.services.users.ensureUser({ name, email });
    expect([isNew, next.id === user.id]).toEqual([true, false]);
    expect((await app.as("user", "/v1/me/export", {}, next.id)).status).toBe(200);
  });

  test("finds users whom only an identity provider knows, and goes in batches", async () => {
    const { id } = await addFlight(app, { seats: 500 });
    for (let number = 0; number < 205; number += 1) {
      const made = await json(await book(id, 1, {}, "sub-of-ada"));
      await cancel(made["bookingId"], "sub-of-ada");
    }
    const { data } = await app.services.persons.export(admin, "sub-of-ada");
    expect(data.bookings).toHaveLength(205);
    const { erased } = await app.services.persons.erase(admin, "sub-of-ada");
    expect(erased).toMatchObject({ bookings: 205, passengers: 205 });
    expect((await app.as("user", bookingsPath, {}, "sub-of-ada")).status).toBe(401);
  });
});

describe("to find a person", () => {
  const search = async (q: string) => {
    const found = await json(await find(q));
    return Array(found["data"]).flat();
  };

  test("a beginning, a booking or an id will do, ignoring case", async () => {
    const { user } = await person();
    const account = { userId: user.id, name, email };
    const { reference } = await json(
      await book((await addFlight(app, { flightNumber: "SK3" })).id, 1, {}, user.id),
    );
    const loud = { ...travellers[0], passportNumber: "X0000009", email: email.toUpperCase() };
    const { id } = await addFlight(app, { flightNumber: "SK6" });
    const request = post({ ...bookingBody(id), passengers: [loud] });
    await jsonWith(await app.as("user", bookingsPath, request, "bo"), 201);
    for (const q of ["ada.can", "ADA.CANARY@EXAMPLE.COM", "ada  canary", user.id]) {
      expect([q, ...(await search(q))]).toEqual([q, account]);
    }
    // By the last name, the booker's companion too.
    expect(await search("comp")).toEqual([
      { userId: null, name: "Grete Companion", email: "grete@example.com" },
    ]);
    expect(await search("grete COMP")).toHaveLength(1);
    expect(await search("ada comp")).toEqual([]);
    for (const q of [reference, String(reference).toLowerCase()]) {
      expect((await search(String(q)))[0]).toEqual(account);
    }
    expect(await search("")).toEqual([account]);
    expect(await search("nobody")).toEqual([]);
    // Users whom only an identity provider knows.
    await book((await addFlight(app, { flightNumber: "SK4" })).id, 1, {}, "sub-of-bo");
    expect(await search("sub-of-bo")).toEqual([{ userId: "sub-of-bo", name: null, email: null }]);
    const userId = "oidc:sub-of-eve";
    await book((await addFlight(app, { flightNumber: "SK5" })).id, 1, {}, userId);
    expect(await search("sub-of-eve")).toEqual([{ userId, name: null, email: null }]);
  });

  test("20 are enough, and an erased one is not found", async () => {
    for (let number = 0; number < 21; number += 1) {
      const found = { name: `Ada ${number}`, email: `ada${number}@example.com` };
      await app.services.users.ensureUser(found);
    }
    const found = await json(await find("ada"));
    expect([Array(found["data"]).flat().length, found["hasMore"]]).toEqual([20, true]);
    const { id } = await addFlight(app);
    const made = await json(await book(id, 1, {}, "sub-of-ada"));
    await cancel(made["bookingId"], "sub-of-ada");
    for (const who of ["sub-of-ada", "ada@example.com"]) {
      await app.services.persons.erase(admin, who).catch(() => null);
    }
    expect(await search(String(made["reference"]))).toEqual([]);
    expect(await search("erased")).toEqual([]);
  });

  test("a frequent traveller hides others only with a word that there may be more", async () => {
    const { id } = await addFlight(app, { seats: 200 });
    const frequent = { firstName: "Ada", lastName: "Canaryson", email };
    for (let made = 0; made < 12; made += 1) {
      const all = Array.from({ length: 9 }, (_, at) => ({ ...passenger(at + 1), ...frequent }));
      const body = { ...bookingBody(id), passengers: all };
      await jsonWith(await app.as("user", bookingsPath, post(body)), 201);
    }
    const found = await json(await find("ada."));
    expect(found).toMatchObject({ data: [{ email }], hasMore: true });
  });

  test("reads what blocks an erasure, the account and the bookings", async () => {
    const { user, own, other } = await person();
    await jsonWith(await app.as("operator", "/v1/sessions", post({ name: "agent" }), user.id), 201);
    const read = async (given: string) =>
      json(await app.as("admin", "/v1/persons/read", inBody(given)));
    const before = await read(email);
    expect(before).toMatchObject({
      person: { email, ids: [user.id] },
      name,
      createdAt: user.createdAt.toISOString(),
      roles: ["operator"],
      hasMore: false,
    });
    const ids = (field: string, of: Record<string, unknown>) =>
      Array(of[field])
        .flat()
        .map((each: unknown) => String(Object(each).bookingId));
    expect(ids("bookings", before)).toHaveLength(3);
    expect(ids("bookings", before)).toContain(String(other));
    expect(ids("openBookings", before).toSorted()).toEqual(ids("bookings", before).toSorted());
    app.clock.advance(3 * hourMs);
    const after = await read(user.id);
    expect(ids("openBookings", after)).toEqual([]);
    expect(after["bookings"]).toContainEqual(
      expect.objectContaining({ bookingId: own, status: "flown" }),
    );
    expect(await read("grete@example.com")).toMatchObject({
      name: "Grete Companion",
      createdAt: null,
    });
    // Another address that begins like this one.
    expect(await read("grete@example.co")).toMatchObject({ name: null });
    app.clock.advance(8 * 24 * hourMs);
    expect(await read(user.id)).toMatchObject({ roles: [] });
    expect(await read("nobody@example.com")).toMatchObject({ name: null, bookings: [] });
  });

  test("and to export or erase one is for admins, whoever calls", async () => {
    const { persons } = app.services;
    const operator = contextOf("op", "operator");
    for (const name of ["find", "read", "export", "erase"] as const) {
      const call = persons[name](operator, email);
      expect(await failure(call)).toMatchObject({ code: "insufficient-scope" });
    }
  });

  test("is for admins, and refuses what is no text", async () => {
    for (const role of ["operator", "user"] as const) {
      for (const [path, body] of [
        ["find", { q: "ada" }],
        ["read", { person: email }],
      ] as const) {
        expect((await app.as(role, `/v1/persons/${path}`, post(body))).status).toBe(403);
      }
    }
    const long = await find("x".repeat(255));
    expect(long.status).toBe(422);
    expect((await find("a\u0000b")).status).toBe(200);
  });

  test("reads a page of an index", () => {
    for (const statement of Object.values(finding)) {
      const plan = planOnSqlite(statement).join("\n");
      expect(plan).toMatch(/USING (COVERING )?INDEX/);
      expect(plan).not.toMatch(/SCAN (?!json_each|.*INDEX users_newest)/);
    }
  });
});
