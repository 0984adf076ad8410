import { expect, test } from "bun:test";

import { json, until } from "../../support/app.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { paymentEvent } from "../../support/payments.ts";
import { resources } from "../../support/resources.ts";

const taken = resources();

test("the log names a payment's booking by its id, and repeats no text of the payload", async () => {
  const { logFd, text } = taken.log();
  const app = await taken.app({ LOG_LEVEL: "debug", LOG_FORMAT: "json" }, undefined, { logFd });
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
    text()
      .split("\n")
      .filter(Boolean)
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
  expect(text()).not.toContain("Lovelace");
});
