import { afterAll, beforeAll, expect, test } from "bun:test";

import { systemClock } from "../../../src/base/clock.ts";
import { json, type TestApp, testSecret } from "../../support/app.ts";
import { commandLine } from "../../support/cli.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { serveApp, type ServedApp } from "../../support/served-app.ts";

const { skyhook, newFolder } = commandLine();
const bookings = "/v1/api/bookings";

let app: TestApp;
let served: ServedApp;
beforeAll(async () => {
  // The command signs with the time of this machine.
  const clock = { ...systemClock, advance() {}, jump() {} };
  served = await serveApp({}, clock);
  app = served.app;
});
afterAll(() => served.stop());

async function hold(currency: string, price: number) {
  const flight = await addFlight(app, { flightNumber: `SB${price}`, currency, priceMinor: price });
  const wanted = post({ ...bookingBody(flight.id, 1), hold: true });
  const { bookingId, reference } = await json(await app.as("user", bookings, wanted));
  return { id: String(bookingId), reference: String(reference) };
}

const send = (...args: string[]) =>
  skyhook(["send", ...args, "--server", served.url], {
    cwd: newFolder(),
    env: {
      ADMIN_TOKEN: served.token,
      OPERATOR_TOKEN: "of an operator, who must not see bookings",
      WEBHOOK_PROVIDERS: "code_host,payment_processor",
      PAYMENT_PROCESSOR_WEBHOOK_SECRET: testSecret("payment_processor"),
    },
  });
const read = async (id: string) => json(await app.as("admin", `${bookings}/${id}`));

test.each([
  ["USD", 49_950],
  ["JPY", 18_000],
  ["KWD", 41_255],
])(
  "skyhook send pays a booking in %s its price, and refunds what is due",
  async (currency, price) => {
    const { id, reference } = await hold(currency, price);
    const paid = await send(
      "payment_processor",
      "payment_intent.succeeded",
      "--booking",
      reference,
    );
    expect(paid).toMatchObject({ code: 0, err: "" });
    expect(await read(id)).toMatchObject({ status: "confirmed" });

    await app.as("user", `${bookings}/${id}`, { method: "DELETE" });
    const part = ["--amount", "8", "--note", "by transfer"];
    const recorded = await skyhook(
      ["booking", "refund", reference, ...part, "--server", served.url],
      {
        cwd: newFolder(),
        env: { ADMIN_TOKEN: served.token },
      },
    );
    expect([recorded.err, recorded.code]).toEqual(["", 0]);
    expect(recorded.out).toMatch(/^Refunded [A-Z]{3} 8[.0]* of [A-Z]{3} [\d,.]+: partial\n$/);
    const refunded = await send("payment_processor", "charge.refunded", "--booking", id);
    expect(refunded.code).toBe(0);
    expect(await read(id)).toMatchObject({ status: "cancelled", refund: { status: "succeeded" } });
  },
);

test("skyhook send --booking names what it cannot do", async () => {
  const unknown = await send(
    "payment_processor",
    "payment_intent.succeeded",
    "--booking",
    "NOSUCH",
  );
  expect(unknown.err).toContain("The server has no booking NOSUCH");
  const other = await send("payment_processor", "invoice.paid", "--booking", "NOSUCH");
  expect(other.err).toContain("--booking is for events about payments: payment_intent.succeeded");
  const none = await send("code_host", "workflow_run.completed", "--booking", "NOSUCH");
  expect(none.err).toContain("code_host has no events about payments of bookings");
});
