import { beforeAll, expect, test } from "bun:test";

import { json } from "../../support/app.ts";
import { consoleForTests, inBrowser, rows } from "../../support/console.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";

const dayMs = 86_400_000;

inBrowser("the Flights and Bookings views", () => {
  const { server, browser } = consoleForTests({ size: [1_440, 900] });
  let day: string;
  const cellsOf = async (selector: string) => (await browser.texts(selector)).join("|");

  const noonIn20Days = () =>
    new Date(Math.floor(server.app.clock.now() / dayMs + 20) * dayMs + dayMs / 2);

  beforeAll(() => browser.signIn("admin", "h1", "Events"), 60_000);

  /** Books seats on a flight that departs in 20 days. Returns the reference. */
  async function book(
    [flightNumber, seats]: readonly [string, number],
    [lastName, count]: readonly [string, number],
  ): Promise<string> {
    const { app } = server;
    const departureTime = noonIn20Days();
    day = departureTime.toISOString().slice(0, 10);
    const flight = await addFlight(app, { flightNumber, seats, departureTime });
    const body = bookingBody(flight.id, count);
    const passengers = body.passengers.map((each) => ({ ...each, lastName }));
    const contactEmail = `${lastName.toLowerCase()}@example.com`;
    const made = await app.as(
      "user",
      "/v1/api/bookings",
      post({ ...body, passengers, contactEmail }),
    );
    expect(made.status).toBe(201);
    return String((await json(made))["reference"]);
  }

  test("bookings: an empty list says where to go next", async () => {
    await browser.go("#/bookings", ".empty strong", "No bookings yet");
    await browser.isAccessible();
    expect(await browser.read("document.querySelector('.empty a[href=swagger]') !== null")).toBe(
      true,
    );
    await browser.click(".empty a", ".empty strong", "No departures in 14 days");
  });

  test("flights: opens with the flights of the first day, in columns that fit", async () => {
    await book(["SK100", 2], ["Hopper", 2]);
    await addFlight(server.app, { flightNumber: "SK300", seats: 5 });
    await browser.go("#/flights?days=60");
    await browser.has(".row.departure:not(.head)", 1);
    expect(await cellsOf(".row.head .cell")).toBe(
      "Departs, UTC|Local time|Flight|Route|Load|Seats sold|",
    );
    expect(await cellsOf("li .row .cell")).toMatch(
      // In summer at 8.
      /^12:00\|0[78]:00\|SK100\|JFK → LHR\|100%\|Economy Sold out\|Bookings$/,
    );
    // The next day with departures.
    await browser.click("header.load a", "li .row .cell", "SK300");
    expect(await cellsOf("li .row .share")).toBe("0%");
    expect(await cellsOf("li .row .size")).toBe("");
    const isCut = `[...document.querySelectorAll(".list, .cell")].some((it) => it.scrollWidth > it.clientWidth + 1)`;
    expect(await browser.read(isCut)).toBe(false);
  });

  test("flights: never rounds a sale away, nor a free seat", async () => {
    const reference = await book(["SK200", 1_000], ["Lovelace", 1]);
    expect(reference).toMatch(/^[A-Z]{6}$/);
    await browser.go(`#/flights/${day}?days=60`);
    await browser.shows("header.load", "2 flights, 3 of 1,002 seats sold");
    await browser.shows("li:last-child .seats", "Economy 1 of 1,000");
    await browser.shows("li:last-child .share", "1%");
    const widths = `[...document.querySelectorAll("li .meter")].map((meter) =>
      Math.round(meter.firstChild.getBoundingClientRect().width / meter.getBoundingClientRect().width * 1000)).join()`;
    expect(await browser.read(widths)).toBe("1000,1");
    await browser.isAccessible();
  });

  test("flights: one row per departure has all of its cabins", async () => {
    const departureTime = noonIn20Days();
    const { id } = await addFlight(server.app, {
      flightNumber: "SK200",
      departureTime,
      cabinClass: "first",
    });
    await browser.go(`#/flights/${day}?days=60&flight=sk200`);
    await browser.has("li .cabin", 2);
    expect(await cellsOf("li .cabin")).toBe("Economy 1 of 1,000|First 0 of 10");
    expect(await browser.read("document.querySelectorAll('.cabin')[1].title")).toBe(
      `Flight ID ${id}`,
    );
    await browser.go(`#/flights?days=60&origin=LHR`, ".empty strong", "No departures in 60 days");
    await browser.click(".filters > a");
    await browser.isAt("#/flights");
    // What is set before the page has followed its address keeps the old filters.
    await browser.shows(".empty strong", "No departures in 14 days");
    await browser.set("From", day);
    await browser.until(`location.hash === "#/flights?from=${day}" && ${rows} === 2`);
  });

  test("flights: a departure leads to its bookings of the day", async () => {
    await browser.go(`#/flights/${day}`);
    await browser.has("li .row", 2);
    await browser.press("k");
    await browser.press("Enter");
    await browser.until(
      `location.hash.startsWith("#/bookings?flight=SK200&departsFrom=${day}T") && document.querySelectorAll('.row.booking[data-row]').length === 1`,
    );
    expect(await browser.text("[data-row] .kind")).toBe("SK200 JFK → LHR economy");
    await browser.shows("[data-row] .title", "Ada Lovelace");
    await browser.shows("[data-row] .payment", "At booking");
    expect(await browser.text("[data-row] .departs")).toMatch(
      /^[FMSTW][a-z]{2} \d+ [A-Z][a-z]+ .*0[78]:00$/,
    );
    expect(await browser.text("[data-row] .size")).toBe("USD\u00a0499.50");
    expect(await cellsOf(".row.head .cell")).toBe(
      "Status|Booking|Flight|Departs, local time|Seats|Price|Payment|Booked",
    );
    expect(await cellsOf(".chip.set .label")).toBe("Flight|Departs (UTC)|to");
    await browser.has(".chip:not(.set) .label", 3);
    await browser.click(".filters button.chip:last-of-type");
    await browser.has(".chip:not(.set) .label", 6);
    await browser.isAccessible();
  });

  test("on a phone, nothing of a row is cut off", async () => {
    await browser.size(390, 844);
    const overflow = `[...document.querySelectorAll("li > .row, .list")].filter((it) =>
      it.scrollWidth > it.clientWidth + 1).length`;
    for (const [hash, kind] of [
      ["#/bookings", "booking"],
      ["#/flights?days=60", "departure"],
    ] as const) {
      await browser.go(hash);
      await browser.until(
        `document.querySelectorAll("li > .row.${kind}").length === 2 && document.querySelector(".loading, .spinner") === null`,
      );
      await browser.until(`${overflow} === 0`);
      await browser.until("!document.querySelector('.row.head').checkVisibility()");
      // The filters are one row, which scrolls.
      await browser.until("document.querySelector('.filters').clientHeight < 50");
    }
    await browser.size(1_440, 900);
  });

  test("operators see no links to bookings", async () => {
    await browser.signInAgain("operator", "h1", "Events");
    await browser.go(`#/flights/${day}`, "li .row .cell", "SK200");
    expect(await browser.count("li .row :is(a, button)")).toBe(0);
  });
});
