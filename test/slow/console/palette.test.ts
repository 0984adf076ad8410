import { beforeAll, expect, test } from "bun:test";

import { json } from "../../support/app.ts";
import { consoleForTests, inBrowser, isFocused } from "../../support/console.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";

const active = "document.querySelector('.command[aria-selected=true]').textContent";

inBrowser("the command palette in a browser", () => {
  const { server, browser } = consoleForTests({ env: { DESTINATIONS_ALLOW_PRIVATE: "true" } });
  let eventId: string;
  let bookingId: string;

  /** Presses Ctrl+K or, as on a Mac, Cmd+K. */
  async function pressK(modifier: "control" | "meta" = "control"): Promise<void> {
    const key = {
      key: "k",
      code: "KeyK",
      windowsVirtualKeyCode: 75,
      modifiers: modifier === "control" ? 2 : 4,
    };
    await browser.cdp("Input.dispatchKeyEvent", { type: "rawKeyDown", ...key });
    await browser.cdp("Input.dispatchKeyEvent", { type: "keyUp", ...key });
  }
  async function open(): Promise<void> {
    await pressK();
    await browser.focuses("dialog[open] [role=combobox]");
  }
  async function choose(text: string, label: string): Promise<void> {
    await open();
    await browser.type(text);
    await browser.until(`${active}.startsWith(${JSON.stringify(label)})`);
    await browser.press("Enter");
    await browser.lacks(".palette[open]");
  }

  beforeAll(async () => {
    const { app } = server;
    eventId = String((await json(await app.deliverSample("code_host", "package.published")))["id"]);
    const flight = await addFlight(app);
    const booked = await app.as("user", "/v1/api/bookings", post(bookingBody(flight.id)));
    bookingId = String((await json(booked))["bookingId"]);
    await browser.signIn("admin", "[data-row]", "GitHub");
  }, 60_000);

  test("opens with Ctrl+K and Cmd+K, also from a field; Escape returns the focus", async () => {
    await browser.press("j");
    await browser.focuses("[data-row]");
    await open();
    await browser.press("Escape");
    await browser.until(
      `document.querySelector('.palette[open]') === null && ${isFocused("[data-row]")}`,
    );
    await browser.press("/");
    await browser.focuses("[data-filter]");
    await pressK("meta");
    await browser.focuses("dialog[open] [role=combobox]");
    await pressK();
    await browser.press("Escape");
    await browser.until(
      `document.querySelector('.palette[open]') === null && ${isFocused("[data-filter]")}`,
    );
    // The key is pressed after the palette has closed, but before the page has noticed.
    await open();
    await browser.read(`(() => {
      document.querySelector("dialog.palette").close();
      dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true }));
    })()`);
    await browser.focuses("dialog[open] [role=combobox]");
    await browser.press("Escape");
    await browser.lacks(".palette[open]");
    await browser.click(".to-palette");
    await browser.focuses("[role=combobox]");
    await browser.click(".palette-bar button");
    await browser.until(
      `document.querySelector('.palette[open]') === null && ${isFocused(".to-palette")}`,
    );
  });

  test("moves through the options with the arrow keys, and names the active one", async () => {
    await open();
    const described = `document.getElementById(
      document.activeElement.getAttribute('aria-activedescendant')).textContent`;
    expect(await browser.read(described)).toBe("Issues1");
    await browser.press("ArrowDown");
    await browser.until(`${described} === "Health2" && ${active} === "Health2"`);
    await browser.press("ArrowUp");
    await browser.press("ArrowUp");
    await browser.until(`${active}.endsWith("payment_processor")`);
    await browser.press("ArrowDown");
    await browser.until(`${active} === "Issues1"`);
    await browser.isAccessible();
    await browser.press("Escape");
    await browser.lacks(".palette[open]");
  });

  test("opens views, the events of providers and pages that add something, and focuses them", async () => {
    await choose("heal", "Health");
    await browser.until(`location.hash === "#/health" && ${isFocused("main")}`);
    await choose("code_host events", "GitHub: events");
    await browser.isAt("#/events?provider=code_host");
    await choose("add prov", "Add provider");
    await browser.isAt("#/providers/new");
  });

  test("jumps to an event and a booking that are pasted, and searches for other text", async () => {
    await choose(`request for ${eventId} failed`, "Open event");
    await browser.until(`location.hash === "#/events/${eventId}" && ${isFocused("[data-pane]")}`);
    await choose(bookingId, "Open booking");
    await browser.isAt(`#/bookings/${bookingId}`);
    await choose("package", "Search events for “package”");
    await browser.isAt("#/events?q=package");
  });

  test("finds bookings and people while one types, and what can be done to a destination", async () => {
    const { app } = server;
    const { reference } = await json(await app.as("admin", `/v1/api/bookings/${bookingId}`));
    await choose(String(reference), `Booking ${String(reference)} SK100`);
    await browser.isAt(`#/bookings/${bookingId}`);
    await open();
    await browser.type("lovel");
    await browser.shows(".command", "Person Ada Lovelace");
    await browser.press("Escape");
    await browser.lacks(".palette[open]");
    await choose("ada@exam", "Person Ada Lovelace");
    await browser.isAt("#/people/ada%40example.com");
    const body = { name: "warehouse", format: "json", url: "http://127.0.0.1:1099/" };
    await app.as("admin", "/v1/destinations", post(body));
    for (const [text, label, notice] of [
      ["pause ware", "Pause warehouse", "Paused warehouse."],
      ["resume ware", "Resume warehouse", "Resumed warehouse."],
      ["retry ware", "Retry failed deliveries of warehouse", "No failed deliveries of warehouse."],
    ] as const) {
      await choose(text, label);
      await browser.shows(".notice", notice);
    }
    for (const [key, title] of [
      ["a", "Access"],
      ["p", "People"],
    ] as const) {
      await browser.press(key);
      await browser.shows("h1", title);
    }
  });

  test("shows the shortcuts", async () => {
    await choose("shortcuts", "Keyboard shortcuts");
    await browser.shows("dialog[open] h2", "Keyboard shortcuts");
    await browser.press("Escape");
    await browser.lacks("dialog[open]");
  });

  test("signs out; offers operators neither bookings nor what only admins may do", async () => {
    await browser.read(`localStorage.setItem("skyhook.name", "Ada")`);
    await choose("sign out", "Sign out");
    await browser.shows("[role=alert]", "signed out");
    // The next person who signs in here may be another one.
    expect(await browser.read(`localStorage.getItem("skyhook.name")`)).toBeNull();
    await browser.signIn("operator", "[data-row]", "GitHub");
    await open();
    const shown = "document.querySelector('.palette').textContent";
    for (const word of ["Bookings", "People", "Add provider", "New destination"]) {
      expect([word, String(await browser.read(shown)).includes(word)]).toEqual([word, false]);
    }
    await browser.type(bookingId);
    await browser.until(`${active} === "Search events for “${bookingId}”"`);
    await browser.press("Escape");
    await browser.lacks(".palette[open]");
    // A list hears first that the session has ended.
    await browser.read(`void (() => {
      const { fetch } = window;
      window.fetch = async (url, init) => {
        const response = await fetch(url, init);
        if (init?.method === "DELETE") {
          location.hash = "#/destinations";
          while (document.querySelector("[role=alert]") === null) await new Promise((on) => setTimeout(on, 10));
        }
        return response;
      };
    })()`);
    await choose("sign out", "Sign out");
    await browser.shows("[role=alert]", "signed out");
  });

  test("fits a phone of 320 pixels", async () => {
    await browser.signIn("admin", "[data-row]", "GitHub");
    await browser.size(320, 480);
    await browser.click(".bottom button");
    await browser.click(".to-palette", ".command", "GitHub");
    const fits = `(({ left, right, bottom }) => left >= 0 && right <= 320 && bottom <= 480)(
      document.querySelector(".palette").getBoundingClientRect())`;
    expect(await browser.read(fits)).toBe(true);
    await browser.isAccessible();
  });
});
