import { expect, test } from "bun:test";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { json, startApp, until } from "../../support/app.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { paymentEvent } from "../../support/payments.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";

test("the log names a payment's booking by its id, and repeats no text of the payload", async () => {
  const folder = temporaryFolder();
  const file = join(folder, "log");
  const logFd = openSync(file, "w");
  const app = await startApp({ LOG_LEVEL: "debug", LOG_FORMAT: "json" }, undefined, { logFd });
  const held = { ...bookingBody((await addFlight(app)).id), hold: true };
  const booking = String(
    (await json(await app.as("user", "/v1/api/bookings", post(held))))["bookingId"],
  );
  const person = "Ada Lovelace, 12 April 1990";
  const moneys = [
    { booking: person },
    { booking, currency: person },
    { booking, amount: person },
    { booking },
  ];
  for (const [number, money] of moneys.entries()) {
    const body = paymentEvent(app, number, "payment_intent.succeeded", money);
    expect((await app.deliver("payment_processor", body)).status).toBe(200);
  }
  const effects = () =>
    readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line): Record<string, unknown> => JSON.parse(line))
      .filter(({ effect }) => effect !== undefined);
  await until(() => effects().length === moneys.length);
  expect(effects()).toMatchObject([
    { effect: "no booking", referenceLength: person.length },
    { effect: "mismatch", booking },
    { effect: "mismatch", booking },
    { effect: "confirmed", booking },
  ]);
  await app.stop();
  closeSync(logFd);
  expect(readFileSync(file, "utf8")).not.toContain("Lovelace");
  removeFolder(folder);
});
