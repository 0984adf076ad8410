import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { json, startApp, type TestApp, until } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";
import { noManyConnections, postgresDatabase, type TestDatabase } from "../../support/databases.ts";
import { addFlight } from "../../support/flights.ts";
import { holdSeat, paymentEvent } from "../../support/payments.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";
import { skips } from "../../support/skips.ts";

const listed = `displayName: Bank
signature: { kind: hmac, algorithm: sha256, encoding: hex, from: header.x-bank-signature, signs: "{body}" }
deliveryId: /id
event: "{/kind}"
events: { received: {} }
samples: { received: { body: { id: "{id}", kind: received } } }
`;
const described = `${listed}bookingReference: /note
payment: { kinds: { received: paid }, amount: /amount, currency: /currency, id: /id }
`;
const secret = "a secret that only the bank knows";
const bookings = 6;

describe.skipIf(skips(noManyConnections))("two instances on one database", () => {
  let database: TestDatabase;
  let folder: string;
  let apps: [TestApp, TestApp];
  beforeEach(async () => {
    folder = temporaryFolder();
    describeAs(listed);
    database = await postgresDatabase();
    const clock = manualClock();
    const env = { DATABASE_URL: database.url, PROVIDERS_DIR: folder, BANK_WEBHOOK_SECRET: secret };
    apps = [await startApp(env, clock), await startApp(env, clock)];
  });
  afterEach(async () => {
    await Promise.all(apps.map((app) => app.stop()));
    await database[Symbol.asyncDispose]();
    removeFolder(folder);
  });

  const describeAs = (content: string) => writeFileSync(join(folder, "bank.yaml"), content);

  async function holds(): Promise<readonly string[]> {
    const [app] = apps;
    const ids: string[] = [];
    for (let n = 0; n < bookings; n += 1) {
      // A user can have three holds on a flight.
      ids.push(await holdSeat(app, (await addFlight(app, { flightNumber: `PI${n}` })).id));
    }
    return ids;
  }

  async function notifiedOf(booking: string): Promise<readonly unknown[]> {
    const rows = await database.run(
      `select type from events where provider = 'bookings' and subject = 'booking/${booking}' order by type`,
    );
    return rows.map(({ type }) => type);
  }

  test("both find stored payments, and each has its effect once", async () => {
    const ids = await holds();
    for (const note of ids) {
      const fields = { id: note, kind: "received", note, amount: 49_950, currency: "USD" };
      const body = JSON.stringify(fields);
      const signature = new Bun.CryptoHasher("sha256", secret).update(body).digest("hex");
      const headers = { "x-bank-signature": signature };
      const response = await apps[0].fetch("/webhooks/bank", { method: "POST", headers, body });
      expect(response.status).toBe(200);
    }
    describeAs(described);
    for (const app of apps) app.services.reload();
    await until(async () => {
      const waiting = await database.run(
        "select position from events where provider = 'bank' and effect is null",
      );
      return waiting.length === 0;
    });
    for (const id of ids) {
      expect(await notifiedOf(id)).toEqual(["booking.confirmed", "booking.held"]);
    }
    const payments = await database.run("select booking_id from payments");
    expect(payments).toHaveLength(bookings);
  });

  test("a refund at one and its payment at the other at the same time count once", async () => {
    const ids = await holds();
    for (const [n, booking] of ids.entries()) {
      const payment = `pi_${n}`;
      const [here, there] = n % 2 === 0 ? apps : [apps[1], apps[0]];
      const refund = { payment, amount: 10_000 };
      const answers = await Promise.all([
        here.deliver("payment_processor", paymentEvent(here, 10 * n, "charge.refunded", refund)),
        there.deliver(
          "payment_processor",
          paymentEvent(there, 10 * n + 1, "payment_intent.succeeded", { payment, booking }),
        ),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    }
    for (const id of ids) {
      await until(async () => {
        for (const app of apps) app.clock.advance(100);
        const shown = await json(await apps[0].as("admin", `/v1/api/bookings/${id}`));
        return Object(shown["refund"])["refunded"] === 100;
      });
      expect(await notifiedOf(id)).toEqual([
        "booking.confirmed",
        "booking.held",
        "booking.refunded",
        "payment.overrefunded",
      ]);
    }
    expect(await database.run("select event_id from waiting_notices")).toEqual([]);
  });
});
