import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { mintConsoleCode } from "../../../src/identity/auth/console-codes.ts";
import { json, sample, signed } from "../../support/app.ts";
import { type Browser, chromium, openBrowser } from "../../support/browser.ts";
import { type ConsoleServer, pastClock, signIn, startConsole } from "../../support/console.ts";
import { choosyGateway, fillWithHistory, withGateway } from "../../support/history.ts";
import { itemsOf } from "../../support/operator.ts";

/** The aim is a second; a machine that is busy with other things may need more. */
const patienceMs = 5_000;
const rows = "document.querySelectorAll('[data-row]').length";

describe.skipIf(chromium === null)("the console in a browser", () => {
  const clock = pastClock();
  const gateway = choosyGateway();
  let server: ConsoleServer;
  let browser: Browser;
  const go = (hash: string) => browser.read(`void (location.hash = ${JSON.stringify(hash)})`);

  beforeAll(async () => {
    server = await startConsole(withGateway(gateway.url), clock);
    await fillWithHistory(server, clock, { sparse: 1.5, days: 2 });
    browser = await openBrowser();
  }, 60_000);
  afterAll(async () => {
    browser.close();
    await server.stop();
    await gateway.stop();
  });

  const post = (id: string, event: string, headers: Record<string, string> = {}) => {
    const made = sample(id, event, clock);
    const init = signed(id, JSON.stringify(made.body), clock, {
      headers: { ...made.headers, ...headers },
    });
    return fetch(`${server.url}/webhooks/${id}`, init);
  };

  test("tells who may not enter, and why", async () => {
    await signIn(browser, server, "user");
    await browser.shows("[role=alert]", "role operator or admin");
    await browser.read("document.querySelector('input[name=token]').select()");
    await browser.type("no.such.token");
    await browser.click("button[type=submit]");
    await browser.shows("[role=alert]", "not valid");
    expect(await browser.read("sessionStorage.length")).toBe(0);
  });

  test("signs in by a token, kept in this tab alone, and shows what came", async () => {
    await signIn(browser, server, "admin");
    await browser.until(`${rows} === 50`);
    await browser.shows(".connection", "Live");
    expect(await browser.read("Object.keys(sessionStorage).join()")).toBe("skyhook.token");
    expect(await browser.read("localStorage.length + document.cookie.length")).toBe(0);
  });

  test("shows a webhook as it arrives, without a reload", async () => {
    await browser.read("void (window.stays = true)");
    const before = performance.now();
    const { id } = await json(await post("code_host", "workflow_run.completed"));
    await browser.until(`document.querySelector('[data-row]')?.hash === '#/events/${String(id)}'`);
    const tookMs = performance.now() - before;
    console.log(`a webhook was on the page ${Math.round(tookMs)} ms after it was posted`);
    expect(tookMs).toBeLessThan(patienceMs);
    expect(await browser.read("window.stays")).toBe(true);
  });

  test("opens its timeline by the keyboard: receipt, event, notification", async () => {
    await browser.press("j");
    await browser.until("document.activeElement.matches('[data-row]')");
    await browser.press("Enter");
    await browser.shows(".step h3", "Received and verified");
    await browser.shows(".step h3", "Normalised");
    await browser.shows(".step h3", "Notification");
    await browser.shows(".step", "200");
    expect(await browser.read("document.querySelector('.detail pre').textContent")).toContain(
      '"workflow_run": {',
    );
    await browser.click(".tabs button:nth-child(2)");
    await browser.until("!document.querySelector('.detail pre').textContent.includes('\\n')");
    const { body } = await json(
      await server.app.as(
        "operator",
        `/v1/events/${String(await browser.read("location.hash.slice(9)"))}`,
      ),
    );
    expect(await browser.read("document.querySelector('.detail pre').textContent")).toBe(
      String(body),
    );
    expect(
      await browser.read(
        "document.querySelector('.headers').textContent.includes('signature-256')",
      ),
    ).toBe(false);
  });

  test("replays it, and shows what was sent again", async () => {
    const told = "document.querySelectorAll('.step h3 .badge').length";
    const before = Number(await browser.read(told));
    await browser.click(".actions .primary");
    await browser.until(`${told} > ${before}`);
    await browser.shows("[role=status]", "Replayed");
    await browser.press("Escape");
    await browser.until("document.querySelector('.detail') === null");
  });

  test("scrolls through 500 events without a jump, and holds back what is new meanwhile", async () => {
    for (let sent = 0; sent < 400; sent += 4) {
      const four = [1, 2, 3, 4].map(() => server.app.deliverSample("task_tracker", "task.created"));
      await Promise.all(four);
    }
    const newest = String((await json(await post("code_host", "package.published")))["id"]);
    await browser.until(`document.querySelector('[data-row]')?.hash === '#/events/${newest}'`);
    const list = "document.querySelector('[data-list]')";
    for (
      let seen = Number(await browser.read(rows));
      seen < 500;
      seen = Number(await browser.read(rows))
    ) {
      await browser.read(`void (${list}.scrollTop = ${list}.scrollHeight)`);
      await browser.until(`${rows} > ${seen}`);
    }
    expect(Number(await browser.read(rows))).toBeGreaterThanOrEqual(500);
    const listed = "[...document.querySelectorAll('[data-row]')].map((row) => row.hash)";
    expect(await browser.read(`new Set(${listed}).size === ${rows}`)).toBe(true);
    expect(
      await browser.read(`${listed}.join() === ${listed}.toSorted().toReversed().join()`),
    ).toBe(true);
    const first = "document.querySelector('[data-row]')?.hash";
    const top = await browser.read(first);
    const place = await browser.read(`${list}.scrollTop`);
    const { id } = await json(await post("deploy_platform", "deploy.succeeded"));
    await browser.shows(".held", "1 new");
    expect(await browser.read(first)).toBe(top);
    expect(await browser.read(`${list}.scrollTop`)).toBe(place);
    await browser.click(".held");
    await browser.until(`${first} === '#/events/${String(id)}' && ${list}.scrollTop === 0`);
  }, 60_000);

  test("keeps its filters in the address, and takes them from there", async () => {
    await browser.press("/");
    await browser.type("deploy.error");
    await browser.until("location.hash.includes('type=deploy.error')");
    const kinds =
      "[...new Set([...document.querySelectorAll('.kind')].map((it) => it.textContent))].join()";
    await browser.until(`${kinds} === 'deploy_platform deploy.error'`);
    await go("#/events?provider=bookings&status=accepted");
    await browser.until(
      `${kinds}.startsWith('bookings booking.') && document.querySelector('select').value === 'bookings'`,
    );
    await go("#/events?provider=code_host&status=unreadable");
    await browser.shows(".empty", "No event fits these filters");
  });

  test("says when the line is lost, comes back by itself, and has what came meanwhile", async () => {
    await go("#/events");
    await browser.shows(".connection.live", "Live");
    await server.cut();
    await browser.shows(".connection.lost", "Not connected");
    const { id } = await json(await server.app.deliverSample("deploy_platform", "deploy.created"));
    server.restore();
    await browser.shows(".connection.live", "Live");
    await browser.until(`document.querySelector('[data-row]')?.hash === '#/events/${String(id)}'`);
  });

  test("explains a refused delivery, which appears by itself", async () => {
    await go("#/refused");
    await browser.until(`${rows} >= 5`);
    const made = sample("code_host", "package.published", clock);
    const body = JSON.stringify(made.body);
    const init = signed("code_host", body, clock, { headers: made.headers });
    const spoiled = await fetch(`${server.url}/webhooks/code_host`, { ...init, body: `${body}\n` });
    expect(spoiled.status).toBe(401);
    await browser.until(`${rows} >= 6`);
    await browser.click("[data-row]");
    await browser.shows(".explanation", "line break at the end of the body");
    await browser.shows(".explanation code", "trailing-newline-added");
  });

  test("shows health: figures, chart, silence and dead letters", async () => {
    await go("#/health?range=6h");
    await browser.shows(".figure", "median; p95");
    await browser.until("document.querySelector('.chart canvas') !== null");
    await browser.shows("figcaption", "accepted");
    await browser.shows(".lines li", "nothing for 2");
    await browser.shows(".lines li", "HTTP 503");
  });

  test("shows where each secret's rotation stands", async () => {
    await go("#/providers");
    await browser.shows(".panel", "safe to remove");
  });

  test("finds a booking by reference and by e-mail, with its history", async () => {
    await go("#/bookings");
    await browser.until(`${rows} > 1`);
    const reference = await browser.read("document.querySelector('[data-row] .mono').textContent");
    await browser.press("/");
    await browser.type(String(reference).toLowerCase());
    await browser.until(`${rows} === 1`);
    await browser.click("[data-row]");
    await browser.shows(".detail .reference", String(reference));
    await browser.shows(".detail .step", "Booked");
    await go("#/bookings?q=nobody%40example.com");
    await browser.shows(".empty", "Nothing is found");
  });

  test("shows how full flights are, and a day's departures", async () => {
    const day = new Date(clock.now() + 86_400_000).toISOString().slice(0, 10);
    await go("#/flights");
    await browser.shows("figcaption", "seats sold");
    await browser.click(`[href='#/flights/${day}']`);
    await browser.shows(".departures", "SK100");
  });

  test("is accessible by axe's rules, in light and dark, and fits a phone", async () => {
    const opened = async (path: string) =>
      String(itemsOf((await json(await server.app.as("admin", path)))["data"])[0]?.["id"]);
    const views = [
      `#/events/${await opened("/v1/events")}`,
      "#/events?provider=code_host&status=unreadable",
      `#/refused/${await opened("/v1/rejections")}`,
      "#/health?range=6h",
      "#/providers",
      `#/bookings/${await opened("/v1/api/bookings")}`,
      "#/flights",
    ];
    const faults: string[] = [];
    for (const scheme of ["light", "dark"] as const) {
      await browser.scheme(scheme);
      for (const view of views) {
        await go(view);
        await browser.until("document.querySelector('.spinner') === null");
        faults.push(
          ...(
            await browser.accessibilityFaults(scheme === "dark" ? "color-contrast" : undefined)
          ).map((fault) => `${view} ${scheme}: ${fault}`),
        );
      }
    }
    await browser.size(375, 720);
    for (const view of views) {
      await go(view);
      await browser.until("document.querySelector('.spinner') === null");
      const wide = await browser.read("document.documentElement.scrollWidth");
      if (wide !== 375) faults.push(`${view} is ${String(wide)} pixels wide on a phone`);
    }
    await browser.size(1_280, 800);
    expect(faults).toEqual([]);
  }, 60_000);

  test("lists its keys, and signs out", async () => {
    await browser.press("?");
    await browser.until("document.querySelector('dialog').open");
    expect(await browser.accessibilityFaults()).toEqual([]);
    await browser.press("Escape");
    await browser.until("!document.querySelector('dialog').open");
    await browser.click(".tools button:last-child");
    await browser.shows("[role=alert]", "signed out");
    expect(await browser.read("sessionStorage.length")).toBe(0);
    expect(await browser.accessibilityFaults()).toEqual([]);
  });

  test("signs in by the link of `skyhook console`, once, and takes the code out of the address", async () => {
    const { config } = server.app.services;
    const issuing = {
      key: Buffer.from(config.jwtSecret ?? ""),
      issuer: config.jwtIssuer,
      audience: config.jwtAudience,
    };
    const link = `${server.url}/console#code=${await mintConsoleCode(issuing, "operator", clock)}`;
    // Another tab: what this one has kept is not there.
    await browser.open("about:blank");
    await browser.open(link);
    await browser.until(`${rows} > 0`);
    expect(await browser.read("location.href")).toBe(`${server.url}/console`);
    expect(await browser.read("document.querySelector('nav').innerText")).not.toContain("Bookings");
    await go("#/bookings");
    await browser.shows(".empty", "This view is for admins");
    expect(await browser.read("sessionStorage.length")).toBe(1);
    await browser.open("about:blank");
    await browser.open(link);
    await browser.until(`${rows} > 0 && !location.href.includes("code")`);
    await browser.click(".tools button:last-child");
    await browser.shows("[role=alert]", "signed out");
    await browser.open("about:blank");
    await browser.open(link);
    await browser.shows("[role=alert]", "has been used, has expired");
    expect(await browser.read("location.href")).toBe(`${server.url}/console`);
  });

  test("stays connected as long as its token is taken, then asks to sign in at once", async () => {
    // Taken until 30 s after its end, which is five seconds from now.
    const token = await server.app.services.tokens.mint({ id: "test", roles: ["operator"] }, -25);
    await browser.open("about:blank");
    await browser.open(`${server.url}/console`);
    await browser.click("input[name=token]");
    await browser.type(token);
    await browser.click("button[type=submit]");
    await browser.shows(".connection", "Live");
    await browser.read(`void (window.lost = 0, new MutationObserver(() => {
      if (document.querySelector(".connection")?.innerText.includes("Not connected")) window.lost ||= Date.now();
      if (document.querySelector("[role=alert]") && window.lost) window.lostMs ??= Date.now() - window.lost;
    }).observe(document.body, { subtree: true, childList: true, characterData: true }))`);
    await browser.shows("[role=alert]", "expired");
    // No more than one try to come back.
    expect(Number(await browser.read("window.lostMs ?? 0"))).toBeLessThan(3_000);
    expect(await browser.read("sessionStorage.length")).toBe(0);
  });

  test("broke no policy of its own, and logged no error", () => {
    const errors = browser.said.filter((line) => /error|refused|policy/i.test(line));
    // The browser itself reports answers of 401 and 403, and the line that was cut.
    expect(errors.filter((line) => !/Failed to load resource|ERR_/.test(line))).toEqual([]);
  });
});
