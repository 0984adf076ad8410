import { afterAll, beforeAll, expect, test } from "bun:test";

import { json, until } from "../../support/app.ts";
import {
  consoleForTests,
  consolePage,
  inBrowser,
  pastClock,
  rows,
  startConsole,
} from "../../support/console.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { choosyGateway, withGateway } from "../../support/history.ts";

const minuteMs = 60_000;

inBrowser("the console's views", () => {
  const clock = pastClock();
  const gateway = choosyGateway();
  const { server, browser } = consoleForTests({
    env: { ...withGateway(gateway.url), USERS_ACCESS: "admin" },
    clock,
  });
  let bookingId: string;
  let booker: string;
  const deliver = async (provider: string, event: string) =>
    String((await json(await server.app.deliverSample(provider, event)))["id"]);

  beforeAll(async () => {
    const { app } = server;
    const { user } = await app.services.users.ensureUser({
      name: "Grace Hopper",
      email: "grace@example.com",
    });
    booker = user.id;
    const flight = await addFlight(app);
    const booked = await app.as("user", "/v1/api/bookings", post(bookingBody(flight.id)), booker);
    bookingId = String((await json(booked))["bookingId"]);
    await app.as("user", `/v1/api/bookings/${bookingId}`, { method: "DELETE" }, booker);
    await browser.signIn("admin");
    await browser.has("[data-row]", 2);
  }, 60_000);
  afterAll(() => gateway.stop());

  test("flights: names the period without departures, and offers a longer one", async () => {
    await browser.go("#/flights", ".empty strong", "No departures in 14 days");
    await browser.shows(".empty pre", "bun skyhook import");
    await browser.click(".empty a");
    await browser.until(
      `location.hash === '#/flights?days=60' && document.querySelectorAll('li .row.departure').length === 1`,
    );
    await browser.shows("header.load", "1 flight, 0 of 10 seats sold");
  });

  test("charts: the legend shows values only while the pointer is over a bar", async () => {
    const legend = `[...document.querySelectorAll(".u-series")].map((series) => [
      getComputedStyle(series).visibility, getComputedStyle(series.querySelector("th"), "::after").content,
      series.querySelector(".u-value").textContent].join(" ")).join("|")`;
    await browser.has(".u-over");
    expect(await browser.read(legend)).toBe("hidden none |visible none |visible none ");
    const { x, y } = Object(
      await browser.read(`(({ left, right, top }) => ({ x: (left + right) / 2, y: top + 20 }))(
        document.querySelector(".u-over").getBoundingClientRect())`),
    );
    const move = { type: "mouseMoved", x: Number(x), y: Number(y) };
    await browser.cdp("Input.dispatchMouseEvent", move);
    await browser.has(".chart.pointed");
    expect(await browser.read(legend)).toMatch(
      /^visible ":" \d+ \w+\|visible ":" \d+\|visible ":" \d+$/,
    );
    // In the chart, but outside the plot area.
    await browser.cdp("Input.dispatchMouseEvent", { ...move, x: 8, y: Number(y) });
    await browser.lacks(".chart.pointed");
    expect(await browser.read(legend)).toBe("hidden none |visible none |visible none ");
  });

  test("bookings: shows a refund consistently and as pending, not as paid", async () => {
    await browser.go(`#/bookings/${bookingId}`);
    await browser.shows(".booking-cards", "USD\u00a0499.50 (100 %), pending");
    await browser.shows(".step h3", "Booked: 1 seat for USD 499.50");
    await browser.shows(".step h3", "Refund of USD 499.50 (100 %) pending");
    expect(await browser.read("document.body.textContent.includes('paid back')")).toBe(false);
    await browser.shows(".end", "End of list · 1 booking");
  });

  test("bookings: an address with a day that is none shows what is wrong beside the filters", async () => {
    await browser.go("#/bookings?departsTo=x", ".empty", "departsTo: Must be");
    await browser.has(".chip.day", 2);
    await browser.go(`#/bookings/${bookingId}`);
  });

  test("bookings: shows the booker's email address", async () => {
    await browser.shows(".booking-cards a[href^='#/people/']", "grace@example.com");
    await browser.shows(".step", "by grace@example.com");
  });

  test("rejections: an unknown cause is explained without a code", async () => {
    await server.app.deliver("task_tracker", "{}", { secret: "another secret" });
    await browser.go("#/rejections");
    await browser.click("[data-row]", ".checklist", "Ruled out: reformatted JSON");
    await browser.shows(".checklist .next", "Compare the secret");
    expect(await browser.count(".explanation code")).toBe(0);
    await browser.shows(".explanation button", "Check again with the current secrets");
    await browser.click(".explanation summary");
    for (const [secret, answer] of [
      ["a third secret", "Does not match"],
      ["another secret", "Matches"],
    ] as const) {
      await browser.click("[name=secret]");
      await browser.type(secret);
      await browser.push("Try this secret", ".explanation [role=status]", answer);
    }
    await browser.isAccessible();
    await browser.shows("[data-row]", "2 bytes");
    await browser.shows(".end", "End of list · 1 rejected delivery");
  });

  test("rejections: the timeline shows the status of the response", async () => {
    const latest = "document.querySelector('[data-row]')?.hash";
    await browser.shows(".step h3", "Responded 401");
    for (const [encoding, status] of [
      ["br", 415],
      ["identity", 401],
    ] as const) {
      const before = String(await browser.read(latest));
      const headers = { "content-encoding": encoding };
      const options = { headers, secret: "another secret" };
      const { status: sent } = await server.app.deliver("code_host", "{}", options);
      expect(sent).toBe(status);
      await browser.until(`${latest} !== ${JSON.stringify(before)}`);
      await browser.click("[data-row]", ".step h3", `Responded ${status}`);
    }
  });

  test("events: show the delivery state first, and quietly the severity or the status", async () => {
    const push = { headers: { "x-codehost-event": "push" } };
    await server.app.deliver("code_host", JSON.stringify({ ref: "refs/heads/main" }), push);
    await browser.go("#/events?provider=code_host", "[data-row] .severity.ignored", "Ignored");
    await browser.shows("[data-row] .mark.none", "None");
    await deliver("code_host", "workflow_run.completed");
    await browser.shows("[data-row] .severity.error", "Error");
    await deliver("code_host", "package.published");
    await browser.shows("[data-row] .severity.success", "Success");
    await browser.shows(".end", "End of list · 3 events");
    await browser.has("[data-row] .mark.delivered", 2);
    expect(await browser.read("document.querySelector('.head').innerText")).toStartWith("Delivery");
    const isInFront = `[...document.querySelectorAll("[data-row] .title")].every((cell) => {
      const [mark, title] = [...cell.children].map((it) => it.getBoundingClientRect());
      return mark.left >= cell.getBoundingClientRect().left && mark.right <= title.left;
    })`;
    for (const width of [390, 1_280]) {
      await browser.size(width, 800);
      await browser.until(`innerWidth === ${width}`);
      expect(await browser.read(isInFront)).toBe(true);
    }
    await browser.click("li:nth-child(2) > [data-row]", ".detail .under .severity.error", "Error");
    await browser.shows(".detail .under .mark", "Delivered");
  });

  test("events: the filter of types offers those of the newest events", async () => {
    const options = "[...document.querySelectorAll('#type-options option')].map((it) => it.value)";
    await browser.until(`${options}.includes("booking.confirmed")`);
    await browser.read("void document.querySelector('[list=type-options]').focus()");
    await browser.type("workflow_run.completed");
    await browser.has("[data-row]", 1);
    expect(await browser.read("location.hash.split('?')[1]")).toBe(
      "provider=code_host&type=workflow_run.completed",
    );
  });

  const isResentVisible = `(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(
    document.querySelector(".step.fresh h3").getBoundingClientRect())`;

  test("timeline: a notification from a replay is marked and scrolled into view", async () => {
    clock.goBack(minuteMs);
    const id = await deliver("code_host", "workflow_run.completed");
    // Settled before the clock leaps over its lease.
    await until(async () => {
      const { notifications } = await json(await server.app.as("operator", `/v1/events/${id}`));
      return JSON.stringify(notifications).includes('"status":"delivered"');
    });
    clock.goBack(0);
    await browser.go(`#/events/${id}`, ".step h3", "Notification Delivered");
    await browser.click(".actions .primary");
    await browser.confirm(".step h3", "Notification 2, resent");
    await browser.shows(".step h3", "Notification 1 Delivered");
    await browser.isAccessible();
    await browser.until(isResentVisible);
  });

  test("timeline: a notification resent under its original id is marked", async () => {
    const id = await deliver("deploy_platform", "deploy.error");
    await browser.go(`#/events/${id}`, ".step h3", "Notification Retrying");
    await browser.click(".actions .primary");
    await browser.confirm(".step h3", "Notification, resent");
    await browser.until(isResentVisible);
  });

  test("an unknown address shows an error page", async () => {
    await browser.go("#/nopage", ".empty strong", "This page does not exist");
    expect(await browser.count("nav [aria-current]")).toBe(0);
    await browser.until("document.title === 'Page not found · Skyhook'");
    await browser.isAccessible();
    await browser.click(".empty a");
    await browser.until(`location.hash === '#/events' && ${rows} > 0`);
  });

  test("issues: names what fails, mutes it, and retries it", async () => {
    await browser.go("#/issues", ".issue h2", "to operator-gateway failing");
    await browser.shows(".issue .badge", "HTTP 503");
    await browser.shows(".issue", "The destination failed: check its log.");
    await browser.shows(".issue h2", "rejected");
    await browser.until("Number(document.querySelector('nav .count')?.textContent) > 1");
    const before = await browser.count(".issue footer");
    // Equal findings are one card, with a row for each provider. Each action has a name of its own.
    await browser.has(".issue:has(footer + footer)");
    const names = `[...document.querySelectorAll(".issue .actions > *")].map((it) => it.ariaLabel)`;
    expect(await browser.read(`new Set(${names}).size === ${names}.length`)).toBe(true);
    await browser.click(".issue .actions > button", ".muted summary", "Muted (1)");
    expect(await browser.count(".page > .issues > .issue footer")).toBe(before - 1);
    await browser.read("void (document.querySelector('.muted').open = true)");
    await browser.shows(".muted button", "Unmute");
    await browser.isAccessible();
    await browser.click(".muted .actions button:not(.primary)");
    await browser.lacks(".muted");
    await browser.click(".issue .primary", "[role=status]", "will be sent again");
    await browser.click(".issue a", ".detail h2", "");
  });

  test("issues: a new installation shows the first steps until they are done", async () => {
    const settings = { WEBHOOK_PROVIDERS: "code_host", DESTINATIONS_ALLOW_PRIVATE: "true" };
    const bare = await startConsole({ ...settings, CODE_HOST_WEBHOOK_SECRET: undefined }, clock);
    const fresh = await startConsole(settings, clock);
    const steps = `[...document.querySelectorAll(".first-steps li")].map((step) =>
      step.matches(".done") ? "done" : step.innerText.includes("Waiting") ? "waiting" : "open").join()`;
    const open = async (url: string) => {
      await browser.open(`${url}/console`);
      await browser.has("input[name=token]");
      await browser.read("localStorage.removeItem('skyhook.started')");
    };

    await open(bare.url);
    await consolePage(browser, bare).signIn("admin");
    await browser.go("#/issues");
    await browser.until(`${steps} === "open,open,open"`);
    await browser.shows(".issue h2", "A secret is missing");
    await browser.shows(".issue .actions a", "Set up");
    await browser.isAccessible();
    await bare.stop();

    await open(fresh.url);
    await consolePage(browser, fresh).signIn("admin");
    await browser.go("#/issues");
    await browser.until(`${steps} === "done,open,waiting"`);
    const body = { name: "deploys", format: "json", url: "http://127.0.0.1:1099/" };
    await fresh.app.as("admin", "/v1/destinations", post(body), "root");
    await fresh.app.deliverSample("code_host", "package.published");
    await browser.lacks(".first-steps");
    await browser.shows(".empty strong", "No issues");
    await fresh.stop();
  });

  test("issues: says that there are none, and what to do next", async () => {
    const quiet = await startConsole({}, clock);
    await browser.open(`${quiet.url}/console`);
    await consolePage(browser, quiet).signIn("operator", "h1", "Events");
    await browser.go("#/issues");
    await browser.click(".first-steps header button", ".empty strong", "No issues");
    await browser.shows(".empty pre", "bun skyhook send");
    await quiet.stop();
    await browser.signIn("admin");
    await browser.until(`${rows} > 0`);
  });

  test("on a phone the navigation links are separate and no text overflows", async () => {
    await browser.size(400, 720);
    const gaps = `(() => {
      const links = [...document.querySelectorAll(".bottom a")].filter((link) => link.checkVisibility());
      const boxes = links.map((link) => {
        const range = document.createRange();
        range.selectNodeContents(link);
        return range.getBoundingClientRect();
      });
      return Math.min(...boxes.slice(1).map(({ left, top }, index) =>
        top < boxes[index].bottom ? left - boxes[index].right : top - boxes[index].bottom));
    })()`;
    expect(Number(await browser.read(gaps))).toBeGreaterThan(10);
    await browser.go("#/rejections");
    await browser.click("[data-row]", ".explanation button", "Check again");
    await browser.size(375, 720);
    expect(
      await browser.read(
        "(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.querySelector('.explanation'))",
      ),
    ).toBe(true);
  });
});
