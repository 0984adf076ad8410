import { beforeAll, expect, test } from "bun:test";

import { positionIn } from "../../../src/base/ids.ts";
import { write } from "../../../src/db/statement.ts";
import { deleteSettledEvents } from "../../../src/events/retention/retention.sql.ts";
import { json, until } from "../../support/app.ts";
import { consoleForTests, inBrowser, pastClock } from "../../support/console.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { holdSeat, payer } from "../../support/payments.ts";

const minuteMs = 60_000;

inBrowser("holds and payments in the console", () => {
  const clock = pastClock();
  const { server, browser } = consoleForTests({ clock, size: [1_200, 1_200] });
  let pay: ReturnType<typeof payer>;
  let flightId: number;
  const hold = () => holdSeat(server.app, flightId);
  const cancel = (id: string) =>
    server.app.as("user", `/v1/api/bookings/${id}`, { method: "DELETE" });
  const linkTo = (id: string) => `.detail .step a[href="#/events/${id}"]`;

  beforeAll(async () => {
    pay = payer(server.app);
    clock.goBack(2 * minuteMs);
    ({ id: flightId } = await addFlight(server.app, { seats: 200 }));
    await browser.signIn("admin", ".connection", "Live");
  }, 60_000);

  test("a hold counts down, and its payment appears without a reload", async () => {
    const id = await hold();
    await browser.go(`#/bookings/${id}`, ".life .next h3", "Expires in 1");
    await browser.shows(".life .wait", "Held until");
    const countdown = "document.querySelector('.life .next time').textContent";
    const before = String(await browser.read(countdown));
    await browser.until(`${countdown} !== ${JSON.stringify(before)}`);
    await browser.shows("[data-row] .mark.is-held", "Held");
    const failed = await pay("payment_intent.payment_failed", { booking: id });
    await browser.shows(linkTo(failed), "Webhook event of Stripe");
    const wrong = await pay("payment_intent.succeeded", { booking: id, amount: 49_900 });
    await browser.shows(linkTo(wrong), "Stripe");
    const paid = await pay("payment_intent.succeeded", { booking: id });
    await browser.shows(linkTo(paid), "Stripe");
    await browser.shows(".detail .under .mark.is-confirmed", "Confirmed");
    expect(await browser.texts(".life .step h3")).toEqual([
      "Held: 1 seat for USD 499.50",
      "Payment of USD 499.50 failed",
      "Paid USD 499.00, which is not the price",
      "Paid USD 499.50",
      "Paid; booking confirmed",
    ]);
    const card = ".booking-cards section:nth-child(2)";
    await browser.shows(`${card} a[href="#/events/${wrong}"]`, "Mismatch USD\u00a0499.00");
    await browser.shows(`${card} a[href="#/events/${paid}"]`, "Paid USD\u00a0499.50");
    await browser.isAccessible();
  });

  test("leads from the booking to the webhook event, and from its effect back", async () => {
    const id = await hold();
    const paid = await pay("payment_intent.succeeded", { booking: id });
    await browser.go(`#/bookings/${id}`);
    await browser.click(linkTo(paid));
    await browser.shows(".step h3", "Effect on the booking");
    await browser.shows(".step p", `confirmed ${id}`);
    await browser.isAccessible();
    await browser.click(`.step a[href="#/bookings/${id}"]`);
    await browser.shows(".life .step h3", "Paid; booking confirmed");
    // The booking's own event leads back too.
    await browser.click(".life .step:last-child .under a:last-child");
    await browser.shows(".detail .under", "booking.confirmed");
    await browser.shows(`.facts a[href="#/bookings/${id}"]`, id);
  });

  test("shows a refund as pending, partial and succeeded", async () => {
    const id = await hold();
    const money = { booking: id, payment: `pi_of_${id}` };
    await pay("payment_intent.succeeded", money);
    await cancel(id);
    await browser.go(`#/bookings/${id}`, ".life .wait h3", "pending");
    await browser.shows(".booking-cards", "USD\u00a00.00 of USD\u00a0499.50, pending");
    const part = await pay("charge.refunded", { ...money, amount: 20_000 });
    await browser.shows(linkTo(part), "Stripe");
    await browser.shows(".booking-cards", "USD\u00a0200.00 of USD\u00a0499.50, partial");
    const rest = await pay("charge.refunded", money);
    await browser.shows(linkTo(rest), "Stripe");
    await browser.shows(".booking-cards", "USD\u00a0499.50 of USD\u00a0499.50, succeeded");
    await browser.shows(".life .good h3", "Refunded USD 499.50 in all");
  });

  test("records the refund of a booking that no event paid", async () => {
    const body = post(bookingBody(flightId));
    const made = await json(await server.app.as("user", "/v1/api/bookings", body));
    await cancel(String(made["bookingId"]));
    await browser.go(`#/bookings/${String(made["bookingId"])}`);
    await browser.shows(".booking-cards", "USD\u00a0499.50 (100 %), pending");
    await browser.shows(".detail .under .mark", "Refund due");
    await browser.push(
      "Record refund",
      "dialog[open] h2",
      "Record a refund of USD\u00a0499.50 for",
    );
    await browser.isAccessible();
    await browser.confirm();
    await browser.shows(".booking-cards", "USD\u00a0499.50 of USD\u00a0499.50, succeeded");
    await browser.shows(".booking-cards", "by an admin");
    await browser.shows(".life .good h3", "Refunded USD 499.50 in all");
    await browser.has("header .actions > button", 1);
    await browser.shows(".detail .under .mark", "Refunded");
    // A mistake is corrected with a reason.
    await browser.push("Correct refund", ".detail form h2", "Correct refund");
    await browser.set("Refunded in all", "100");
    await browser.set("Reason", "the bank returned it");
    await browser.click(".detail form button.primary");
    await browser.shows(".booking-cards", "USD\u00a0100.00 of USD\u00a0499.50, partial");
    await browser.shows(".life h3", "Refund corrected to USD 100.00 in all");
  });

  test("lists the refunds due, and records one from its row", async () => {
    const references: string[] = [];
    for (let count = 0; count < 2; count += 1) {
      const body = post(bookingBody(flightId));
      const made = await json(await server.app.as("user", "/v1/api/bookings", body));
      await cancel(String(made["bookingId"]));
      references.push(String(made["reference"]));
    }
    await browser.go("#/bookings");
    await browser.has("[data-row]");
    await browser.click(".filters button.chip", "[data-row] .mark", "USD\u00a0499.50 due");
    await browser.isAt("#/bookings?payment=refund-due");
    await browser.shows("[data-row]", `${references[1]} Ada Lovelace`);
    await browser.isAccessible();
    const before = await browser.count("[data-row]");
    await browser.click(".row-act button", "dialog[open] h2", `for ${references[1]}?`);
    await browser.confirm();
    await browser.has("[data-row]", before - 1);
    await browser.shows(".notice", `Refund of ${references[1]} recorded`);
    await browser.shows("[data-row]", String(references[0]));
    await browser.go("#/bookings?payment=refunded", "[data-row]", String(references[1]));
  });

  test("shows an expired hold, and that retention deleted the event of a late payment", async () => {
    clock.goBack(25 * minuteMs);
    const id = await hold();
    const late = await pay("payment_intent.payment_failed", { booking: id });
    clock.goBack(0);
    await until(async () => {
      const { status } = await json(await server.app.as("admin", `/v1/api/bookings/${id}`));
      return status === "expired";
    }, 20_000);
    // Guarantee: the gateway makes ids with this prefix.
    const eventId = late as `evt_${string}`;
    await server.app.services.storage.atomically(
      write(deleteSettledEvents, { positions: [positionIn(eventId)] }),
    );
    await browser.go(`#/bookings/${id}`, ".life .step h3", "Hold expired; seats released");
    await browser.shows(".life .bad", "deleted by retention");
    expect(
      await browser.read(`document.querySelector(${JSON.stringify(linkTo(late))})`),
    ).toBeNull();
    await browser.go("#/bookings", "[data-row] .mark.is-expired", "Expired");
  });

  test("gives no link to a booking that the payload made up", async () => {
    const madeUp = `bk_${"0".repeat(32)}`;
    const id = await pay("payment_intent.succeeded", { booking: madeUp });
    await browser.go(`#/events/${id}`, ".step p", `no effect: there is no booking ${madeUp}`);
    expect(
      await browser.read("document.querySelector('.detail a[href^=\"#/bookings\"]')"),
    ).toBeNull();
  });

  test("shows operators the effect, without a link or personal data", async () => {
    const id = await hold();
    const paid = await pay("payment_intent.succeeded", { booking: id });
    await browser.cdp("Network.clearBrowserCookies");
    await browser.signIn("operator", ".connection", "Live");
    for (const [hash, text] of [
      [`#/events/${paid}`, `confirmed ${id}`],
      ["#/events?provider=bookings", "confirmed"],
    ] as const) {
      await browser.go(hash);
      await browser.shows(hash.includes("?") ? "[data-row]" : ".step p", text);
      expect(await browser.read("document.querySelector('a[href^=\"#/bookings\"]')")).toBeNull();
      const shown = String(await browser.read("document.body.textContent"));
      expect(shown).not.toMatch(/ada@|lovelace|test-user/i);
    }
    await browser.click("[data-row]", ".step h3", "Created by Skyhook");
    expect(
      await browser.read("document.querySelector('.detail a[href^=\"#/bookings\"]')"),
    ).toBeNull();
    await browser.go(`#/bookings/${id}`, ".empty", "Admins only");
  });
});
