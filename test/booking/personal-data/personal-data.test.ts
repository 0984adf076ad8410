import { describe, expect, test } from "bun:test";
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { PersonalData } from "../../../src/booking/model/booking.ts";
import {
  maskedPassport,
  personalDataSeal,
  requestHashKeys,
} from "../../../src/booking/personal-data/personal-data.ts";
import { json, startApp, until } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";
import { addFlight, bookingBody, passenger, post } from "../../support/flights.ts";
import { folderForTests } from "../../support/folder.ts";

const key = (byte: number) => Buffer.alloc(32, byte);
const place = { bookingId: "bk_1", position: 1 } as const;
const data: PersonalData = { dateOfBirth: "1990-04-12", passportNumber: "CANARY123" };

describe("the encryption of personal data", () => {
  test("decrypts what it encrypted, and never yields the same ciphertext twice", () => {
    const seal = personalDataSeal([key(1)]);
    const [one, other] = [seal.seal(place, data), seal.seal(place, data)];
    expect(seal.open({ ...place, sealed: one })).toEqual(data);
    expect(Buffer.compare(one, other)).not.toBe(0);
    expect(Buffer.from(one).includes("CANARY123")).toBe(false);
  });

  test("decrypts with every key of the ring, and encrypts with the first", () => {
    const old = personalDataSeal([key(1)]);
    const rotated = personalDataSeal([key(2), key(1)]);
    expect(rotated.open({ ...place, sealed: old.seal(place, data) })).toEqual(data);
    expect(() => old.open({ ...place, sealed: rotated.seal(place, data) })).toThrow(
      /^booking bk_1 is encrypted with key [0-9a-f]{8}, which is missing: restore it as PERSONAL_DATA_KEY_PREVIOUS /,
    );
  });

  test("does not share its keys with hashes of requests", () => {
    const ring = [key(1), key(2)] as const;
    const hex = (keys: readonly Uint8Array[]) =>
      keys.map((each) => Buffer.from(each).toString("hex"));
    const derived = hex(requestHashKeys(ring));
    expect(derived).toEqual(hex(requestHashKeys(ring)));
    expect(new Set([...derived, ...hex(ring)]).size).toBe(4);
  });

  test("does not decrypt for another booking or passenger, or after a changed bit [API3-6]", () => {
    const seal = personalDataSeal([key(1)]);
    const sealed = seal.seal(place, data);
    expect(() => seal.open({ bookingId: "bk_2", position: 1, sealed })).toThrow();
    expect(() => seal.open({ ...place, position: 2, sealed })).toThrow();
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = Buffer.from(sealed);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(() => seal.open({ ...place, sealed: changed })).toThrow();
    }
  });

  test.each([
    ["X1234567", "*****67"],
    ["AB1234", "*****34"],
    ["A1234", "*****4"],
    ["123456789", "*****789"],
    ["123456789012", "*****9012"],
    ["1234567890123456", "*****3456"],
    ["12", "*****"],
    ["", "*****"],
  ])("masks %s as %s", (passport, masked) => {
    expect(maskedPassport(passport)).toBe(masked);
  });
});

describe("a passport number and a birth date", () => {
  const folder = folderForTests();

  test("appear in no file, log, event, response or error [API3-5]", async () => {
    const log = join(folder, "log");
    const logFd = openSync(log, "w");
    const seen: string[] = [];
    const env = {
      DATABASE_URL: `sqlite:${join(folder, "skyhook.db")}`,
      LOG_LEVEL: "debug",
      LOG_FORMAT: "pretty",
    };
    const app = await startApp(env, manualClock(), { logFd });
    const look = async (response: Response) => seen.push(await response.clone().text());
    const { id } = await addFlight(app);
    const secret = { ...passenger(), dateOfBirth: "1987-06-05", passportNumber: "CANARY123" };
    const body = { ...bookingBody(id), passengers: [secret] };
    const bookings = "/v1/api/bookings";
    const made = await app.as("user", bookings, post(body, { "idempotency-key": "k" }));
    await look(made);
    const { bookingId } = await json(made);
    const invalid = [
      { ...body, passengers: [secret, secret] },
      { ...body, passengers: [{ ...secret, lastName: "" }] },
      { ...body, flightId: "1" },
      { ...body, paymentMethod: "CANARY" },
    ];
    for (const other of invalid) await look(await app.as("user", bookings, post(other)));
    await look(await app.as("user", bookings, post(JSON.stringify(body).slice(0, -1))));
    for (const path of [`${bookings}/${String(bookingId)}`, bookings]) {
      await look(await app.as("admin", path));
    }
    await look(await app.as("user", `${bookings}/${String(bookingId)}`, { method: "DELETE" }));
    for (const path of ["/v1/events", "/v1/notifications", "/metrics"]) {
      await look(await app.as("operator", path));
    }
    // The log is written from the feed, which polls by the test's clock.
    app.clock.advance(1_000);
    await until(() => readFileSync(log, "utf8").includes("notification: Booking"));
    // While the database is open, its files include the write-ahead log.
    for (const file of readdirSync(folder)) seen.push(readFileSync(join(folder, file), "latin1"));
    await app.stop();
    closeSync(logFd);
    for (const file of readdirSync(folder)) seen.push(readFileSync(join(folder, file), "latin1"));
    expect(seen.length).toBeGreaterThan(12);
    for (const text of seen) {
      expect(text).not.toContain("CANARY123");
      expect(text).not.toContain("1987-06-05");
    }
  });
});
