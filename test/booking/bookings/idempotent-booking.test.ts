import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";

import { idempotencyByKey } from "../../../src/identity/idempotency/idempotency.sql.ts";
import { json, jsonWith } from "../../support/app.ts";
import { bookingCalls, bookingsPath as path, totalOf } from "../../support/bookings.ts";
import { addFlight, seatsLeft } from "../../support/flights.ts";
import { resources } from "../../support/resources.ts";
import { appPerTest } from "../../support/running-app.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const taken = resources();
const app = appPerTest();
const { book, cancel } = bookingCalls(app);

describe("Idempotency-Key", () => {
  const keyed = (id: number, key: string, passengers = 1, who = "ada") =>
    book(id, passengers, { "idempotency-key": key }, who);

  test("makes a retry return the original response and book nothing", async () => {
    const { id } = await addFlight(app);
    const first = await keyed(id, "a");
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    const made = await json(first);
    await cancel(made["bookingId"]);
    app.clock.advance(23 * hourMs);
    const second = await keyed(id, '"a"');
    expect(second.status).toBe(201);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(second.headers.get("location")).toBe(first.headers.get("location"));
    expect(await json(second)).toEqual(made);
    expect(await seatsLeft(app, id)).toBe(10);
  });

  test("makes 50 concurrent requests book once [API6-3]", async () => {
    const { id } = await addFlight(app);
    const answers = await Promise.all(Array.from({ length: 50 }, () => keyed(id, "a", 2)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    const bodies = await Promise.all(answers.map((answer) => answer.text()));
    expect(new Set(bodies).size).toBe(1);
    const replayed = answers.filter(({ headers }) => headers.get("idempotent-replayed") === "true");
    expect(replayed).toHaveLength(49);
    expect(await seatsLeft(app, id)).toBe(8);
  });

  test("is stored together with its booking", async () => {
    const file = taken.newFile();
    await app.restart({ DATABASE_URL: `sqlite:${file}` });
    const { id } = await addFlight(app);
    using other = new Database(file);
    other.run(
      "create trigger broken before insert on idempotency begin select raise(abort, 'broken'); end",
    );
    expect((await keyed(id, "a")).status).toBe(500);
    expect([await totalOf(app, path), await seatsLeft(app, id)]).toEqual([0, 10]);
    other.run("drop trigger broken");
    expect((await keyed(id, "a")).status).toBe(201);
    expect([await totalOf(app, path), await seatsLeft(app, id)]).toEqual([1, 9]);
  });

  test("is stored with a hash of the request that cannot be computed without the personal data key", async () => {
    const hashes = [];
    for (const byte of [7, 8]) {
      await app.restart({ PERSONAL_DATA_KEY: Buffer.alloc(32, byte).toString("base64") });
      const { id } = await addFlight(app);
      await keyed(id, "a");
      const record = { scope: "booking:ada", key: "a" };
      const [stored] = await app.services.storage.all(idempotencyByKey, record);
      hashes.push(Buffer.from(stored?.requestHash ?? "").toString("hex"));
    }
    expect(hashes).toEqual([
      expect.stringMatching(/^[0-9a-f]{64}$/),
      expect.not.stringMatching(hashes[0] ?? ""),
    ]);
  });

  test("is independent for another user, and expires after a day [API1-5]", async () => {
    const { id } = await addFlight(app);
    await keyed(id, "a");
    expect((await keyed(id, "a", 2, "bob")).status).toBe(201);
    app.clock.advance(dayMs);
    expect((await keyed(id, "a", 3)).status).toBe(201);
    expect(await seatsLeft(app, id)).toBe(4);
  });

  test.each(["", "a b", "ü", "x".repeat(256)])("%j is invalid: 400", async (key) => {
    const { id } = await addFlight(app);
    const response = await keyed(id, key);
    expect(await jsonWith(response, 400)).toMatchObject({
      errors: [{ parameter: "Idempotency-Key" }],
    });
  });
});
