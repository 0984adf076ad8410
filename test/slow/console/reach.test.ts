import { beforeAll, beforeEach, expect, test } from "bun:test";

import { json, until } from "../../support/app.ts";
import { consoleForTests, inBrowser, isFocused, pastClock, rows } from "../../support/console.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";

const scrolled = "document.querySelector('[data-list]').scrollTop";

inBrowser("the accessibility of the console", () => {
  const clock = pastClock();
  const { server, browser } = consoleForTests({ clock });
  let bookingId: string;
  const deliver = async () =>
    String((await json(await server.app.deliverSample("code_host", "package.published")))["id"]);
  const media = (...features: readonly (readonly [string, string])[]) =>
    browser.cdp("Emulation.setEmulatedMedia", {
      features: features.map(([name, value]) => ({ name, value })),
    });

  beforeAll(async () => {
    const { app } = server;
    const flight = await addFlight(app, { departureTime: new Date(clock.now() + 2 * 86_400_000) });
    const booked = await app.as("user", "/v1/api/bookings", post(bookingBody(flight.id)));
    bookingId = String((await json(booked))["bookingId"]);
    for (let sent = 0; sent < 40; sent += 1) await deliver();
    await browser.signIn("admin");
    await browser.until(`${rows} > 40`);
  }, 60_000);
  beforeEach(async () => {
    await browser.size(1_280, 800);
    await browser.go("#/events");
    await browser.until(`${rows} > 40 && document.querySelector('.detail') === null`);
    await browser.read("void document.activeElement.blur()");
  });

  test("keys: Enter opens and focuses, j opens the next item, Escape returns to the row", async () => {
    await browser.press("j");
    await browser.press("j");
    await browser.press("Enter");
    await browser.focuses("[data-pane]");
    await browser.shows(".step h3", "Received and verified");
    await browser.press("Tab");
    await browser.focuses("[data-close]");
    await browser.press("Tab");
    await browser.focuses(".detail .primary");
    await browser.press("Enter");
    await browser.focuses("dialog[open] .primary");
    await browser.press("Enter");
    await browser.shows(".notice", "Replayed");
    await browser.lacks("dialog[open]");
    await browser.focuses(".detail .primary");
    await browser.press("j");
    await browser.focuses("li:nth-child(3) > [data-row][aria-current]");
    await browser.press("Enter");
    await browser.focuses("[data-pane]");
    await browser.press("Escape");
    await browser.until(
      `location.hash === '#/events' && ${isFocused("li:nth-child(3) > [data-row]")}`,
    );
    // The browser's back button closes it, too.
    await browser.press("Enter");
    await browser.focuses("[data-pane]");
    await browser.read("void history.back()");
    await browser.focuses("li:nth-child(3) > [data-row]");
  });

  test("keys: the first Tab reaches the skip link, and switching views keeps the focus", async () => {
    await browser.open("about:blank");
    await browser.open(`${server.url}/console#/events`);
    await browser.until(`${rows} > 40`);
    await browser.press("Tab");
    await browser.focuses(".skip");
    expect(await browser.read("getComputedStyle(document.activeElement).clipPath")).toBe("none");
    await browser.press("Enter");
    await browser.focuses("main");
    await browser.press("j");
    await browser.press("4");
    await browser.until(`document.title.startsWith('Rejected') && ${isFocused("main")}`);
  });

  test("keys: copying keeps the focus if the clipboard API is unavailable", async () => {
    await browser.read("void Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await browser.press("j");
    await browser.press("Enter");
    const copy = ".detail header > .actions > button:last-child";
    await browser.shows(copy, "Copy ID");
    await browser.read(`void document.querySelector("${copy}").focus()`);
    await browser.press("Enter");
    await browser.shows(".notice", "Copied");
    expect(await browser.read(isFocused(copy))).toBe(true);
  });

  test("keys: signing out focuses the page that signs in", async () => {
    await browser.click(".tools button:last-child");
    await browser.focuses("main.sign-in");
    await browser.signIn("admin");
    await browser.until(`${rows} > 40`);
  });

  test("on a phone a list keeps its scroll position and heading while an item is open", async () => {
    await browser.size(375, 720);
    await browser.read(`void (${scrolled} = 900)`);
    await browser.read("document.querySelectorAll('[data-row]')[20].click()");
    await browser.shows(".step h3", "Received and verified");
    await browser.focuses("[data-pane]");
    expect(await browser.accessibilityViolations("page-has-heading-one")).toEqual([]);
    await browser.press("Escape");
    await browser.until(`${isFocused("li:nth-child(21) > [data-row]")} && ${scrolled} === 900`);
  });

  test("at 320 pixels (400 % zoom) nothing is cut off or overlaps", async () => {
    await browser.size(320, 256);
    const violations: unknown[] = [];
    for (const hash of ["#/events", "#/flights", "#/health", `#/bookings/${bookingId}`]) {
      await browser.go(hash);
      await browser.lacks(".loading, .spinner");
      violations.push(...(await browser.accessibilityViolations()));
      const isNavVisible = `[...document.querySelectorAll(".bottom a")].every((link) =>
        (({ left, right }) => left >= 0 && right <= 320)(link.getBoundingClientRect()))`;
      if ((await browser.read(isNavVisible)) !== true)
        violations.push(`${hash}: a navigation link is cut off`);
    }
    await browser.go("#/flights");
    await browser.has("li .row.departure");
    const overlaps = `(([share, number]) => share.right > number.left && share.left < number.right
      && share.bottom > number.top && share.top < number.bottom)(
      [".departure .share .number", ".departure > .size"].map((name) =>
        document.querySelector(name).getBoundingClientRect()))`;
    expect(await browser.read(overlaps)).toBe(false);
    await browser.go("#/events");
    await browser.until(`${rows} > 40`);
    expect(
      await browser.read("document.querySelector('.row .provider').offsetWidth"),
    ).toBeGreaterThan(20);
    const height = "document.querySelector('[data-list]').clientHeight";
    expect(Number(await browser.read(height))).toBeGreaterThan(90);
    expect(violations).toEqual([]);
  });

  test.each([1_440, 390])(
    "every view and form is accessible in %p pixels",
    async (width) => {
      await browser.size(width, 900);
      const found: string[] = [];
      const links = "[...document.querySelectorAll('.side nav a')].map((it) => it.hash).join()";
      const views = String(await browser.read(links)).split(",");
      expect(views.length).toBeGreaterThan(11);
      const forms = ["#/destinations/new", "#/replays/new", "#/access/new", "#/providers/new"];
      for (const path of [...views, ...forms]) {
        await browser.go(path);
        await browser.has("h1");
        await browser.lacks(".loading, .spinner");
        found.push(...(await browser.accessibilityViolations()).map((it) => `${path}: ${it}`));
        const faults = await browser.read(`[
        ...(document.documentElement.scrollWidth > innerWidth ? ["is too wide"] : []),
        ...[...document.querySelectorAll(".bar a[href$='/new']")]
          .filter((it) => !it.classList.contains("primary") || it.offsetHeight !== 30)
          .map((it) => it.textContent + " is not a primary button of 30 pixels"),
        ...[...document.querySelectorAll("main [onclick], main summary, main button, main a")]
          .filter((it) => it.tabIndex < 0).map((it) => it.textContent + " is not reached by Tab"),
      ].join()`);
        if (faults !== "") found.push(`${path} ${String(faults)}`);
      }
      expect(found).toEqual([]);
    },
    120_000,
  );

  test("announces new events and a lost connection, each once", async () => {
    const announcement = "document.querySelector('[data-arrivals]').textContent";
    await browser.go("#/refused");
    await browser.go("#/events");
    await browser.until(`${rows} > 40 && ${announcement} === ''`);
    await deliver();
    await browser.until(`${announcement} === '1 new event'`);
    const status = "document.querySelector('.frame > [role=status]')";
    expect(await browser.read(`${status}.textContent`)).toBe("Live");
    await browser.read(`void (window.statuses = [], new MutationObserver(() => statuses.push(${status}.textContent))
      .observe(${status}, { childList: true, characterData: true, subtree: true }))`);
    await browser.read(`void (window.attempts = 0, window.originalFetch = fetch, window.fetch = (path, init) => {
      if (path instanceof Request) attempts += 1;
      return originalFetch(path, init);
    })`);
    await server.cut();
    // Two failed attempts to reconnect, with a delay after each.
    await browser.until("attempts >= 2");
    await browser.shows(".connection.lost", "Not connected");
    server.restore();
    await browser.shows(".connection.live", "Live");
    expect(await browser.read("statuses.join()")).toBe("Not connected,Live");
  });

  test("while the server is down a view shows one error, and recovers when it is back", async () => {
    await browser.read(`void (window.failures = 0, window.realFetch = fetch, window.fetch = (path, init) => {
      const response = realFetch(path, init);
      response.catch(() => path instanceof Request || (failures += 1));
      return response;
    })`);
    await server.cut();
    await browser.go("#/health");
    const alerts = "[...document.querySelectorAll('[role=alert]')]";
    // The view sends four requests.
    await browser.until("failures >= 4");
    await browser.shows("[role=alert]", "Cannot reach the server");
    expect(await browser.read(`${alerts}.length`)).toBe(1);
    await browser.go("#/flights", "[role=alert]", "Cannot reach the server");
    server.restore();
    await browser.until(
      `${alerts}.length === 0 && document.querySelectorAll("li .row.departure").length === 1`,
    );
  });

  test("a hidden page closes its connection and loads missed events when it is visible again", async () => {
    await browser.read(`void (() => {
      window.visibility = "visible";
      Object.defineProperty(document, "visibilityState", { get: () => visibility, configurable: true });
      window.setVisibility = (state) => (visibility = state, document.dispatchEvent(new Event("visibilitychange")));
      // Skip the delay of 5 s before a hidden page disconnects.
      const realSetTimeout = setTimeout;
      window.setTimeout = (action, ms) => realSetTimeout(action, ms === 5_000 ? 0 : ms);
    })()`);
    const followers = async (count: number) => {
      const metrics = await (await fetch(`${server.url}/metrics`)).text();
      return metrics.includes(`\nskyhook_feed_subscribers ${count}\n`);
    };
    await until(() => followers(1));
    await browser.read("void setVisibility('hidden')");
    await until(() => followers(0), 20_000);
    const id = await deliver();
    await browser.read("void setVisibility('visible')");
    await until(() => followers(1), 20_000);
    await browser.until(`document.querySelector('[data-row]').hash === '#/events/${id}'`);
    await browser.shows(".connection.live", "Live");
  });

  test("with forced colours the open row and the series of a chart remain distinguishable", async () => {
    await media(["forced-colors", "active"], ["prefers-color-scheme", "dark"]);
    await browser.click("[data-row]", ".step h3", "Received and verified");
    const outlines = `[...document.querySelectorAll("[data-row]")].slice(0, 2)
      .map((row) => getComputedStyle(row).outlineStyle).join()`;
    await browser.read("void document.querySelector('[data-pane]').focus()");
    expect(await browser.read(outlines)).toBe("solid,none");
    await browser.go("#/flights");
    await browser.until("document.querySelectorAll('.u-marker').length >= 2");
    const colours = `new Set([...document.querySelectorAll(".u-series:not(:first-child) .u-marker")]
      .map((mark) => mark.style.background)).size`;
    expect(await browser.read(colours)).toBe(2);
    await media();
  });

  test("prints the open item in full, with its timestamp", async () => {
    await browser.click("[data-row]", ".step h3", "Received and verified");
    await browser.cdp("Emulation.setEmulatedMedia", { media: "print" });
    const hidden = `[...document.querySelectorAll(".side, .master, .actions, .close")].every((part) =>
      !part.checkVisibility())`;
    expect(await browser.read(hidden)).toBe(true);
    const cut = `[...document.querySelectorAll("#main, .detail, .body pre")].filter((part) =>
      part.scrollHeight > part.clientHeight + 2 && getComputedStyle(part).overflowY !== "visible").length`;
    expect(await browser.read(cut)).toBe(0);
    const time = "getComputedStyle(document.querySelector('.under time'), '::after').content";
    expect(String(await browser.read(time))).toContain(" (");
    await browser.cdp("Emulation.setEmulatedMedia", { media: "" });
  });
});
