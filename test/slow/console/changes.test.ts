import { beforeAll, describe, expect, test } from "bun:test";

import { json, jsonWith } from "../../support/app.ts";
import { bookingsPath } from "../../support/bookings.ts";
import { noChromium } from "../../support/browser.ts";
import { consoleForTests, pastClock, signIn } from "../../support/console.ts";
import { changeFlight, later } from "../../support/flight-changes.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { payer } from "../../support/payments.ts";
import { skips } from "../../support/skips.ts";

const names = ["Ada Lovelace", "Grace Hopper", "Annie Easley"];

describe.skipIf(skips(noChromium))("changes of bookings in the console", () => {
  const clock = pastClock();
  const { server, browser } = consoleForTests({ clock, size: [1_200, 1_200] });
  const flightOf = (flightNumber: string, priceMinor: number) =>
    addFlight(server.app, { flightNumber, priceMinor, seats: 9 });
  const steps = "[...document.querySelectorAll('.life .step h3')].map((it) => it.textContent)";
  const offer = "article > .booking-cards:has(.actions)";

  async function booked(flightId: number, extra: object = {}): Promise<string> {
    const passengers = bookingBody(flightId, names.length).passengers.map((each, index) => {
      const [firstName = "", lastName = ""] = names[index]?.split(" ") ?? [];
      return { ...each, firstName, lastName };
    });
    const body = { ...bookingBody(flightId), passengers, ...extra };
    return String((await json(await server.app.as("user", bookingsPath, post(body))))["bookingId"]);
  }
  const call = (path: string, init: RequestInit) =>
    server.app.as("admin", `${bookingsPath}/${path}`, init);

  beforeAll(async () => {
    await signIn(browser, server, "admin");
    await browser.shows(".connection", "Live");
  }, 60_000);

  test("an admin removes a passenger after seeing the price", async () => {
    const id = await booked((await flightOf("CH1", 10_000)).id);
    await browser.go(`#/bookings/${id}`);
    await browser.push("Cancel passengers");
    await browser.push("Show the price", "[role=alert]", "Choose at least one passenger");
    await browser.click("input[name=passenger][value='2']");
    expect(await browser.accessibilityViolations()).toEqual([]);
    await browser.push("Show the price", `${offer} .large`, "Grace Hopper");
    await browser.shows(offer, "USD\u00a0300.00 → USD\u00a0200.00", "USD\u00a0100.00 to refund");
    await browser.shows(`${offer} .badge`, "Offered");
    const countdown = `document.querySelector('${offer} .left').textContent`;
    const before = String(await browser.read(countdown));
    await browser.until(`${countdown} !== ${JSON.stringify(before)}`);
    expect(await browser.read("document.querySelector('.detail .form')")).toBeNull();
    await browser.push("Confirm", "dialog[open] h2", "Remove 1 passenger from the booking?");
    // Polls meanwhile.
    await Bun.sleep(3_500);
    await browser.shows("dialog[open] p", "USD\u00a0100.00 to refund. The seats on CH1");
    expect(await browser.accessibilityViolations()).toEqual([]);
    await browser.click("dialog[open] button.primary");
    await browser.shows(".passengers .gone", "Grace Hopper cancelled");
    await browser.shows(".passengers s", "Grace Hopper");
    await browser.lacks(offer);
    await browser.shows(".booking-cards section .badge", "Confirmed");
    expect(await browser.read(steps)).toEqual([
      "Booked: 3 seats for USD 300.00",
      "1 seat cancelled; USD 100.00 to refund",
    ]);
    // Removed passengers are not offered again.
    await browser.push("Cancel passengers");
    await browser.has("input[name=passenger]", 2);
    await browser.push("Close");
    await browser.lacks("input[name=passenger]");
  });

  test("an admin changes the flight, withdraws one offer, and another waits for its payment", async () => {
    const [from, to] = [await flightOf("CH2", 10_000), await flightOf("CH3", 12_000)];
    const id = await booked(from.id);
    await browser.go(`#/bookings/${id}`);
    for (const [flightId, error] of [
      [999_999, "No flight has this id"],
      [from.id, "The booking is on this flight"],
    ] as const) {
      await browser.push("Change flight");
      await browser.has("input[name=flightId]");
      await browser.type(String(flightId));
      await browser.push("Show the price", ".detail .form", error);
      await browser.push("Close");
      await browser.lacks("input[name=flightId]");
    }
    for (const answer of ["Withdraw", "Confirm"]) {
      await browser.push("Change flight");
      await browser.has("input[name=flightId]");
      await browser.type(String(to.id));
      await browser.push("Show the price", `${offer} .large`, "CH2 → CH3");
      await browser.shows(offer, "USD\u00a0300.00 → USD\u00a0360.00");
      await browser.push(answer);
      await browser.click("dialog[open] button.primary");
      if (answer === "Withdraw") await browser.lacks(offer);
    }
    await browser.shows(`${offer} .badge`, "Pending");
    await browser.shows(offer, "USD\u00a060.00 to pay");
    await browser.shows("details summary", "1 offer not taken");
    expect(await browser.read(`document.querySelector('${offer} .actions').innerText`)).toBe(
      "Withdraw",
    );
    await payer(server.app)("payment_intent.succeeded", { booking: id, amount: 6_000 });
    await browser.shows(".booking-cards a", "CH3");
    await browser.shows(".booking-cards", "Paid USD\u00a060.00 for a change");
    await browser.shows(".life .good h3", "USD 60.00 paid");
    expect(await browser.accessibilityViolations()).toEqual([]);
  });

  test("shows how the airline changed the flight", async () => {
    const flight = await flightOf("CH4", 10_000);
    const id = await booked(flight.id);
    await changeFlight(server.app, flight, later(flight, 3));
    await browser.go(`#/bookings/${id}`, ".booking-cards section", "Changed by the airline");
    const was = `Was JFK → LHR, `;
    await browser.shows(".booking-cards section", was);
    await browser.shows(
      ".booking-cards section",
      `${flight.departureTime.toISOString().slice(11, 16)} UTC`,
    );
  });

  test("shows the ID of a cabin to admins", async () => {
    const flight = await flightOf("CH5", 10_000);
    await browser.go(`#/flights/${flight.departureTime.toISOString().slice(0, 10)}?flight=CH5`);
    await browser.has(`.cabin button[title="Copy the ID ${flight.id}"]`);
    expect(await browser.accessibilityViolations()).toEqual([]);
  });

  test("lists corrections and refunds in the audit", async () => {
    const id = await booked((await flightOf("CH6", 10_000)).id);
    const correction = { firstName: "Augusta", email: "augusta@example.com" };
    const patch = { ...post(correction), method: "PATCH" };
    await jsonWith(await call(`${id}/passengers/1`, patch), 200);
    await jsonWith(await call(id, { method: "DELETE" }), 200);
    await jsonWith(await call(`${id}/refund`, post({ amount: 300 })), 200);
    await browser.go("#/audit?action=booking.*");
    await browser.has("a.audit-entry", 2);
    expect(
      await browser.read(
        `[...document.querySelectorAll("a.audit-entry")].map((row) => [".title", ".changes"].map((part) => row.querySelector(part).textContent).join(": "))`,
      ),
    ).toEqual([
      "Booking refunded: USD 300.00 in all",
      "Booking corrected: Passenger 1: first name, email",
    ]);
    await browser.click("a.audit-entry", ".detail .under", id);
  });

  test("on a phone, nothing is wider than the page", async () => {
    const [from, to] = [await flightOf("CH7", 10_000), await flightOf("CH8", 9_000)];
    const id = await booked(from.id);
    await jsonWith(await call(`${id}/changes`, post({ flightId: to.id })), 201);
    await browser.size(390, 844);
    await browser.go(`#/bookings/${id}`, `${offer} .large`, "CH7 → CH8");
    expect(await browser.read("document.documentElement.scrollWidth")).toBe(390);
    const isCut = `[...document.querySelectorAll(".detail, .booking-cards > section")].some((it) => it.scrollWidth > it.clientWidth)`;
    expect(await browser.read(isCut)).toBe(false);
    expect(await browser.accessibilityViolations()).toEqual([]);
  });
});
