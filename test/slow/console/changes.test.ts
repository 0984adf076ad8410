import { beforeAll, expect, test } from "bun:test";

import { json, jsonWith } from "../../support/app.ts";
import { bookingsPath } from "../../support/bookings.ts";
import { consoleForTests, inBrowser, pastClock } from "../../support/console.ts";
import { changeFlight, later } from "../../support/flight-changes.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { payer } from "../../support/payments.ts";

const names = ["Ada Lovelace", "Grace Hopper", "Annie Easley"];

inBrowser("changes of bookings in the console", () => {
  const clock = pastClock();
  const { server, browser } = consoleForTests({ clock, size: [1_200, 1_200] });
  const flightOf = (flightNumber: string, priceMinor: number) =>
    addFlight(server.app, { flightNumber, priceMinor, seats: 9 });
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

  beforeAll(() => browser.signIn("admin", ".connection", "Live"), 60_000);

  test("an admin removes a passenger after seeing the price", async () => {
    const id = await booked((await flightOf("CH1", 10_000)).id);
    await browser.go(`#/bookings/${id}`);
    await browser.push("Cancel passengers");
    await browser.push("Review cancellation", "[role=alert]", "Choose at least one passenger");
    await browser.click("input[name=passenger][value='2']");
    await browser.isAccessible();
    await browser.push("Review cancellation", `${offer} .large`, "Grace Hopper");
    await browser.shows(offer, "USD\u00a0300.00 → USD\u00a0200.00", "USD\u00a0100.00 to refund");
    await browser.shows(`${offer} .badge`, "Offered");
    const countdown = `document.querySelector('${offer} .left').textContent`;
    const before = String(await browser.read(countdown));
    await browser.until(`${countdown} !== ${JSON.stringify(before)}`);
    expect(await browser.read("document.querySelector('.detail .form')")).toBeNull();
    await browser.shows(offer, "The seats on CH1 are released at once.");
    await browser.isAccessible();
    // The offer has said what happens: nothing asks again.
    await browser.push("Cancel 1 passenger");
    await browser.shows(".passengers .gone", "Grace Hopper cancelled");
    await browser.shows(".passengers s", "Grace Hopper");
    await browser.lacks(offer);
    await browser.shows(".booking-cards section .badge", "Confirmed");
    expect(await browser.texts(".life .step h3")).toEqual([
      "Booked: 3 seats for USD 300.00",
      "1 seat cancelled; USD 100.00 to refund",
    ]);
    // Removed passengers are not offered again.
    await browser.push("Cancel passengers");
    await browser.has("input[name=passenger]", 2);
    await browser.push("Close");
    await browser.lacks("input[name=passenger]");
  });

  test("an admin cancels the booking by choosing everyone", async () => {
    const id = await booked((await flightOf("CH9", 10_000)).id);
    await browser.go(`#/bookings/${id}`);
    await browser.push("Cancel passengers");
    for (const position of [1, 2, 3])
      await browser.click(`input[name=passenger][value='${position}']`);
    await browser.push("Review cancellation", offer, "USD\u00a0300.00 to refund");
    await browser.push("Cancel booking", ".detail .under .mark", "Cancelled");
    await browser.shows(".detail .under .mark", "Refund due");
  });

  test("an admin chooses another departure, discards one offer, and another waits for its payment", async () => {
    const [from, to] = [await flightOf("CH2", 10_000), await flightOf("CH3", 12_000)];
    await addFlight(server.app, { flightNumber: "CHEUR", currency: "EUR", seats: 9 });
    const nextDay = new Date(from.departureTime.getTime() + 86_400_000);
    await addFlight(server.app, {
      flightNumber: "CHNEXT",
      priceMinor: 9_000,
      departureTime: nextDay,
      cabinClass: "business",
    });
    const id = await booked(from.id);
    await browser.go(`#/bookings/${id}`);
    const row = (number: string) => `.departure-choice label:has(input[value='${number}'])`;
    for (const answer of ["Discard", "Change to CH3"]) {
      await browser.push("Change flight");
      await browser.shows(row(String(to.id)), "CH3", "Economy", "+ USD\u00a060.00", "9 free");
      // The flight of the booking is not on offer, nor one with prices in another currency.
      expect(await browser.count(row(String(from.id)))).toBe(0);
      await browser.shows(".departure-choice label:has(:disabled)", "priced in EUR");
      // The first in the cabin of the booking is chosen.
      await browser.has(".departure-choice :checked", 1);
      await browser.click("[aria-label='Next day']", ".departure-choice label", "− USD\u00a030.00");
      await browser.shows(".departure-choice label", "Business");
      await browser.click("[aria-label='Next day']", ".departure-choice", "No other departure on");
      await browser.push("Review change", "[role=alert]", "Choose a departure.");
      await browser.click("[aria-label='Previous day']", ".departure-choice label", "CHNEXT");
      await browser.click("[aria-label='Previous day']", ".departure-choice label", "CH3");
      await browser.isAccessible();
      // The keyboard suffices.
      await browser.read(`void document.querySelector("${row(String(to.id))} input").focus()`);
      await browser.press(" ");
      await browser.press("Enter");
      await browser.shows(`${offer} .large`, "CH2 economy → CH3 economy");
      await browser.until(`document.activeElement.textContent === "Change to CH3"`);
      await browser.shows(offer, "USD\u00a0300.00 → USD\u00a0360.00");
      await browser.push(answer);
      if (answer === "Discard") await browser.lacks(offer);
    }
    await browser.shows(`${offer} .badge`, "Pending");
    await browser.shows(offer, "USD\u00a060.00 to pay");
    await browser.shows("details summary", "1 offer not taken");
    expect(await browser.read(`document.querySelector('${offer} .actions').innerText`)).toBe(
      "Withdraw",
    );
    await payer(server.app)("payment_intent.succeeded", { booking: id, amount: 6_000 });
    await browser.shows(".booking-cards section a", "CH3");
    await browser.shows(".booking-cards", "Paid USD\u00a060.00 for a change");
    await browser.shows(".life .good h3", "USD 60.00 paid");
    await browser.isAccessible();
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
    await browser.click("a.audit-entry", ".detail h2", "Booking");
    expect(await browser.read("location.hash")).toBe(`#/bookings/${id}`);
    // The reference names it. Its id is behind a button.
    expect(await browser.read("document.querySelector('.detail').textContent")).not.toContain(id);
  });

  test("on a phone, nothing is wider than the page", async () => {
    const [from, to] = [await flightOf("CH7", 10_000), await flightOf("CH8", 9_000)];
    const id = await booked(from.id);
    await jsonWith(await call(`${id}/changes`, post({ flightId: to.id })), 201);
    await browser.size(390, 844);
    await browser.go(`#/bookings/${id}`, `${offer} .large`, "CH7 economy → CH8 economy");
    expect(await browser.read("document.documentElement.scrollWidth")).toBe(390);
    const isCut = `[...document.querySelectorAll(".detail, .booking-cards > section")].some((it) => it.scrollWidth > it.clientWidth)`;
    expect(await browser.read(isCut)).toBe(false);
    await browser.isAccessible();
  });
});
