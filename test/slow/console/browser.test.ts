import { afterAll, beforeAll, expect, test } from "bun:test";

import { version } from "../../../src/base/version.ts";
import { mintConsoleCode } from "../../../src/identity/auth/console-codes.ts";
import { json, sample, signed, until } from "../../support/app.ts";
import { consoleForTests, inBrowser, pastClock, rows } from "../../support/console.ts";
import { choosyGateway, fillWithHistory, withGateway } from "../../support/history.ts";
import { itemsOf } from "../../support/operator.ts";

/** The target is one second; busy machines need longer. */
const arrivalTimeoutMs = 5_000;

inBrowser("the console in a browser", () => {
  const clock = pastClock();
  const gateway = choosyGateway();
  const { server, browser } = consoleForTests({ env: withGateway(gateway.url), clock });

  beforeAll(async () => {
    await fillWithHistory(server, clock, { sparse: 1.5, days: 2 });
  }, 60_000);
  afterAll(() => gateway.stop());

  /** The id of the newest item of a list. */
  const newestId = async (path: string) =>
    String(itemsOf((await json(await server.app.as("admin", path)))["data"])[0]?.["id"]);

  const post = (id: string, event: string, headers: Record<string, string> = {}) => {
    const made = sample(id, event, clock);
    const init = signed(id, JSON.stringify(made.body), clock, {
      headers: { ...made.headers, ...headers },
    });
    return fetch(`${server.url}/webhooks/${id}`, init);
  };

  const newCode = () => {
    const { jwtSecret, jwtIssuer: issuer, jwtAudience: audience } = server.app.services.config;
    return mintConsoleCode(
      { key: Buffer.from(jwtSecret ?? ""), issuer, audience },
      "operator",
      clock,
    );
  };

  test("says which server it is and how to sign in there", async () => {
    await browser.open(`${server.url}/console`);
    await browser.shows(".sign-in pre", "bun skyhook console");
    await browser.shows(".sign-in .quiet", `${new URL(server.url).host}, Skyhook ${version}`);
    await browser.isAccessible();
    await browser.click(".sign-in summary");
    await browser.until("document.activeElement?.name === 'token'");
    await browser.isAccessible();
  });

  test("rejects a token without the required role and an invalid token", async () => {
    await browser.signIn("user", "[role=alert]", "operator or admin role");
    await browser.fill("input[name=token]", "no.such.token");
    await browser.click("button[type=submit]", "[role=alert]", "This token is invalid");
    expect(await browser.read("document.cookie.length")).toBe(0);
  });

  test("signs in with a token, which scripts cannot read, and shows events", async () => {
    await browser.signIn("admin");
    await browser.has("[data-row]", 50);
    await browser.shows(".connection", "Live");
    // The remembered address was taken back.
    expect(await browser.read("sessionStorage.length")).toBe(0);
    expect(await browser.read("localStorage.length + document.cookie.length")).toBe(0);
  });

  test("shows a new webhook without a reload", async () => {
    await browser.read("void (window.isSamePage = true)");
    const before = performance.now();
    const { id } = await json(await post("code_host", "workflow_run.completed"));
    await browser.until(`document.querySelector('[data-row]')?.hash === '#/events/${String(id)}'`);
    const tookMs = performance.now() - before;
    console.log(`the webhook appeared ${Math.round(tookMs)} ms after it was posted`);
    expect(tookMs).toBeLessThan(arrivalTimeoutMs);
    expect(await browser.read("window.isSamePage")).toBe(true);
  });

  test("opens an event with the keyboard: receipt, interpreted event, notification", async () => {
    await browser.press("j");
    await browser.until("document.activeElement.matches('[data-row]')");
    await browser.press("Enter");
    await browser.shows(".step h3", "Received and verified", "Interpreted event", "Notification");
    await browser.shows(".step", "200");
    // The attempts come first, and nothing in the pane scrolls by itself.
    expect(await browser.text(".step h3")).toStartWith("Notification");
    await browser.click(".sections button:nth-child(2)");
    expect(await browser.text(".json")).toContain('"workflow_run": {');
    const scrollers = `[...document.querySelectorAll(".detail .body *")].filter((part) =>
      part.scrollHeight > part.clientHeight + 2 && /auto|scroll/.test(getComputedStyle(part).overflowY)).length`;
    expect(await browser.read(scrollers)).toBe(0);
    await browser.read("void (document.querySelector('.json details').open = false)");
    await browser.shows(".json summary", "members");
    await browser.click(".body .tabs button:nth-child(2)");
    await browser.until("!document.querySelector('.detail pre').textContent.includes('\\n')");
    const { body } = await json(
      await server.app.as(
        "operator",
        `/v1/events/${String(await browser.read("location.hash.slice(9)"))}`,
      ),
    );
    expect(await browser.text(".detail pre")).toBe(String(body));
    await browser.click(".sections button:nth-child(3)");
    expect(
      await browser.read(
        "document.querySelector('.headers').textContent.includes('signature-256')",
      ),
    ).toBe(false);
  });

  test("replays an event and shows the resent notification", async () => {
    await browser.click(".sections button:first-child");
    const notifications = "document.querySelectorAll('.step h3 .badge').length";
    const before = Number(await browser.read(notifications));
    await browser.click(".actions .primary", "dialog[open]", "notif");
    expect(await browser.read("document.activeElement.textContent")).toBe("Replay and resend");
    await browser.isAccessible();
    await browser.push("Cancel");
    await browser.lacks("dialog[open]");
    expect(await browser.read(notifications)).toBe(before);
    expect(await browser.read("document.activeElement.textContent")).toBe("Replay and resend");
    await browser.press("Enter");
    await browser.confirm();
    await browser.until(`${notifications} > ${before}`);
    await browser.shows("[role=status]", "Replayed");
    await browser.press("Escape");
    await browser.lacks(".detail");
  });

  test("scrolls through 500 events without jumps and holds back new events meanwhile", async () => {
    for (let sent = 0; sent < 400; sent += 4) {
      const four = [1, 2, 3, 4].map(() => server.app.deliverSample("task_tracker", "task.created"));
      await Promise.all(four);
    }
    const newest = String((await json(await post("code_host", "package.published")))["id"]);
    await browser.until(`document.querySelector('[data-row]')?.hash === '#/events/${newest}'`);
    const list = "document.querySelector('[data-list]')";
    for (
      let loaded = Number(await browser.read(rows));
      loaded < 500;
      loaded = Number(await browser.read(rows))
    ) {
      await browser.read(`void (${list}.scrollTop = ${list}.scrollHeight)`);
      await browser.until(`${rows} > ${loaded}`);
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

  test("keeps filters in the address and restores them from it", async () => {
    await browser.read("void document.querySelector('[list=type-options]').focus()");
    await browser.type("deploy.error");
    await browser.until("location.hash.includes('type=deploy.error')");
    const kinds =
      "[...new Set([...document.querySelectorAll('[data-row] .kind')].map((it) => it.textContent))].join()";
    await browser.until(`${kinds} === 'deploy.error'`);
    await browser.go("#/events?provider=bookings&status=accepted");
    await browser.until(
      `${kinds}.startsWith('booking.') && [...document.querySelectorAll('select')].some((it) => it.value === 'bookings')`,
    );
    await browser.go("#/events?provider=code_host&status=unreadable");
    await browser.shows(".empty", "No events match these filters");
  });

  test("finds events by words, by delivery state and by time", async () => {
    await browser.go("#/events");
    await browser.read("void document.activeElement.blur()");
    await browser.press("/");
    await browser.type("fix ca");
    await browser.isAt("#/events?q=fix+ca*");
    const titles =
      "[...document.querySelectorAll('[data-row] .title')].map((it) => it.textContent)";
    await browser.until(`${rows} > 0 && ${titles}.every((title) => title.includes("Fix cart"))`);
    // A space finishes the last word, and the address says so. Enter searches at once.
    const field = "document.querySelector('.chip.q input').value";
    await browser.press("Enter");
    await browser.until(`location.hash === '#/events?q=fix+ca*' && ${field} === 'fix ca'`);
    await browser.type(" ");
    await browser.isAt("#/events?q=fix+ca");
    await browser.shows(".empty", "No events match these filters");
    await browser.fill(".chip.q input", "fix cart ");
    await browser.until(`location.hash === '#/events?q=fix+cart' && ${rows} > 0`);
    expect(await browser.read(field)).toBe("fix cart ");
    // A filter that is rejected is no failure.
    await browser.go("#/events?type=a*b", "[role=status] .empty", "Must have * at its end only");
    await browser.lacks(".list [role=alert]");
    await browser.go("#/events?delivery=retrying&since=7d");
    await browser.until(
      `${rows} > 0 && document.querySelectorAll("[data-row] .mark.retrying").length === ${rows}`,
    );
    await browser.go("#/events?q=nosuchword", ".empty", "No events match these filters");
    await browser.go(`#/events?q=evt_0123`, ".empty a", "Open the event evt_0123");
    const id = await newestId("/v1/events");
    await browser.go(`#/events?q=${id}`, ".empty a", `Open the event ${id}`);
    await browser.click(".empty a");
    await browser.isAt(`#/events/${id}`);
    await browser.shows(".detail h2", "");
  });

  test("shows a rejected delivery without a reload and explains it", async () => {
    await browser.go("#/rejections");
    await browser.until(`${rows} >= 5`);
    const made = sample("code_host", "package.published", clock);
    const body = JSON.stringify(made.body);
    const init = signed("code_host", body, clock, { headers: made.headers });
    const tampered = await fetch(`${server.url}/webhooks/code_host`, {
      ...init,
      body: `${body}\n`,
    });
    expect(tampered.status).toBe(401);
    await browser.until(`${rows} >= 6`);
    await browser.click("[data-row]", ".explanation", "line break at the end of the body");
    await browser.shows(".explanation code", "trailing-newline-added");
  });

  test("finds what was rejected in a day, between two times, and for a reason", async () => {
    const requested = () => browser.requestedUrls.filter((url) => url.includes("v1/rejections?"));
    const ends = "[...document.querySelectorAll('input[type=datetime-local]')]";
    await browser.go("#/rejections");
    await browser.until(`${rows} >= 6`);
    await browser.set("Time", "24h");
    await browser.isAt("#/rejections?since=24h");
    await until(() => requested().at(-1)?.includes("from=") === true);
    const from = new URL(requested().at(-1) ?? "").searchParams.get("from") ?? "";
    expect(Date.now() - Date.parse(from)).toBeWithin(86_400_000, 86_460_000);

    await browser.set("Time", "custom");
    await browser.until(`${ends}.length === 2`);
    await browser.set("To", "2020-01-01T00:00");
    await browser.shows(".empty", "No rejected deliveries match these filters");
    await browser.set("From", "2030-01-01T00:00");
    await browser.shows(".empty", "Must not be before from");
    await browser.set("To", "2040-01-01T00:30");
    await browser.set("From", "2020-01-01T00:00");
    await browser.until(`${rows} >= 6`);
    await browser.open(`${server.url}/console?again${String(await browser.read("location.hash"))}`);
    await browser.until(
      `${rows} >= 6 && ${ends}.map((it) => it.value).join() === "2020-01-01T00:00,2040-01-01T00:30"`,
    );
    await browser.set("Time", "");
    await browser.isAt("#/rejections");
    await browser.set("Reason", "unsupported-encoding");
    await browser.shows(".empty", "No rejected deliveries match these filters");
  });

  test("leads from an issue to its destination and to all rejected deliveries that it counts", async () => {
    const open = (text: string) =>
      browser.read(`[...document.querySelectorAll(".issue a")]
        .find((it) => it.textContent === ${JSON.stringify(text)}).click()`);
    await browser.go("#/issues", ".issue a", "Show all");
    await open("Show all");
    await browser.until(
      `/^#\\/rejections\\?provider=\\w+&reason=[a-z-]+$/.test(location.hash) && ${rows} >= 2`,
    );
    await browser.go("#/issues", ".issue h2 a", "");
    await browser.click(".issue h2 a");
    await browser.until("location.hash.startsWith('#/destinations/dst_')");
  });

  test("shows health: key figures and charts", async () => {
    await browser.go("#/health?range=6h", ".stat", "Median · p95");
    await browser.has(".chart canvas");
    await browser.shows("figcaption", "accepted");
    await browser.click("a.value[href='#/events?delivery=dead']");
    await browser.isAt("#/events?delivery=dead");
  });

  test("shows the state of each secret rotation", async () => {
    await browser.go("#/providers", ".panel", "Safe to remove");
    await browser.shows(".panel", "No deliveries for 2");
  });

  test("finds a booking by reference and shows its history", async () => {
    await browser.go("#/bookings");
    await browser.until(`${rows} > 1`);
    const reference = await browser.text("[data-row] .mono");
    await browser.press("/");
    await browser.type(String(reference).toLowerCase());
    await browser.has("[data-row]", 1);
    await browser.click("[data-row]");
    await browser.shows(".detail .reference", String(reference));
    await browser.shows(".detail .step", "Booked");
    await browser.go("#/bookings?q=nobody%40example.com");
    await browser.shows(".empty", "No bookings match “nobody@example.com”");
  });

  test("shows seats sold per day and the departures of a day", async () => {
    await browser.go("#/flights", "figcaption", "seats sold");
    await browser.shows(".row.departure", "SK100");
  });

  test("passes the rules of axe in light and dark, and fits a phone", async () => {
    const views = [
      `#/events/${await newestId("/v1/events")}`,
      "#/events?provider=code_host&status=unreadable",
      `#/rejections/${await newestId("/v1/rejections")}`,
      "#/health?range=6h",
      "#/providers",
      "#/issues",
      `#/bookings/${await newestId("/v1/api/bookings")}`,
      "#/flights",
    ];
    const violations: string[] = [];
    for (const scheme of ["light", "dark"] as const) {
      await browser.scheme(scheme);
      for (const view of views) {
        await browser.go(view);
        await browser.lacks(".loading, .spinner");
        violations.push(
          ...(
            await browser.accessibilityViolations(scheme === "dark" ? "color-contrast" : undefined)
          ).map((violation) => `${view} ${scheme}: ${violation}`),
        );
      }
    }
    await browser.size(375, 720);
    for (const view of views) {
      await browser.go(view);
      await browser.lacks(".loading, .spinner");
      const width = await browser.read("document.documentElement.scrollWidth");
      if (width !== 375) violations.push(`${view} is ${String(width)} pixels wide on a phone`);
    }
    const outside = await browser.read(`[...document.querySelectorAll(".bottom a")]
      .filter((link) => (({ left, right }) => left < 0 || right > 375)(link.getBoundingClientRect()))
      .map((link) => link.textContent).join()`);
    if (outside !== "") violations.push(`the navigation hides ${String(outside)} on a phone`);
    await browser.size(1_280, 800);
    expect(violations).toEqual([]);
  }, 60_000);

  test("lists its keyboard shortcuts and signs out", async () => {
    await browser.press("?");
    await browser.until("document.querySelector('dialog').open");
    await browser.isAccessible();
    await browser.press("Escape");
    await browser.until("!document.querySelector('dialog').open");
    await browser.click(".tools button:last-child", "[role=alert]", "signed out");
    expect(await browser.read("document.cookie.length")).toBe(0);
    await browser.isAccessible();
  });

  test("signs in once with the link of `skyhook console` and removes the code from the address", async () => {
    const link = `${server.url}/console#code=${await newCode()}`;
    // `about:blank` first: otherwise only the fragment changes and the page is not reloaded.
    await browser.open("about:blank");
    await browser.open(link);
    await browser.shows("h1", "Issues");
    expect(await browser.read("location.href")).toBe(`${server.url}/console`);
    expect(await browser.read("document.querySelector('nav').innerText")).not.toContain("Bookings");
    await browser.go("#/bookings", ".empty", "Admins only");
    await browser.open("about:blank");
    await browser.open(link);
    await browser.until(
      `document.querySelector("nav") !== null && !location.href.includes("code")`,
    );
    // What is shown of the connection moves the button.
    await browser.shows(".connection", "Live");
    await browser.click(".tools button:last-child", "[role=alert]", "signed out");
    await browser.open("about:blank");
    await browser.open(link);
    await browser.shows("[role=alert]", "already used, has expired");
    expect(await browser.read("location.href")).toBe(`${server.url}/console`);
  });

  test("keeps the address that was asked for through the sign-in, in every tab", async () => {
    await browser.open("about:blank");
    await browser.open(`${server.url}/console#/providers`);
    await browser.shows("h1", "Sign in to Skyhook");
    const code = await newCode();
    // In the same tab, the link changes only the fragment.
    await browser.read(`void (location.hash = "#code=${code}")`);
    await browser.shows("h1", "Providers");
    expect(await browser.read("location.hash")).toBe("#/providers");
    // The session is that of the browser, not of the tab.
    await browser.read("sessionStorage.clear()");
    await browser.open("about:blank");
    await browser.open(`${server.url}/console#/health`);
    await browser.shows("h1", "Health");
    // Ended elsewhere: in another tab, or by an admin.
    const { data } = await json(await server.app.as("admin", "/v1/sessions"));
    const [session] = itemsOf(data);
    const path = `/v1/sessions/${String(session?.["id"])}`;
    await server.app.as("admin", path, { method: "DELETE" });
    await browser.shows("[role=alert]", "expired");
  });

  test("stays connected until its token expires, then asks to sign in at once", async () => {
    // The server accepts tokens until 30 s after their expiry, which is five seconds from now.
    const token = await server.app.services.tokens.mint({ id: "test", roles: ["operator"] }, -25);
    await browser.open("about:blank");
    await browser.open(`${server.url}/console#/events`);
    await browser.click(".sign-in summary");
    await browser.click("input[name=token]");
    await browser.type(token);
    await browser.click("button[type=submit]", ".connection", "Live");
    await browser.read(`void (window.lost = 0, new MutationObserver(() => {
      if (document.querySelector(".connection")?.innerText.includes("Not connected")) window.lost ||= Date.now();
      if (document.querySelector("[role=alert]") && window.lost) window.lostMs ??= Date.now() - window.lost;
    }).observe(document.body, { subtree: true, childList: true, characterData: true }))`);
    await browser.shows("[role=alert]", "expired");
    // At most one attempt to reconnect.
    expect(Number(await browser.read("window.lostMs ?? 0"))).toBeLessThan(3_000);
    expect(await browser.read("document.cookie.length")).toBe(0);
  });

  test("violates no content security policy and logs no errors", () => {
    const errors = browser.consoleMessages.filter((line) => /error|refused|policy/i.test(line));
    // Chromium itself logs the 401 and 403 responses and the closed connection.
    expect(errors.filter((line) => !/Failed to load resource|ERR_/.test(line))).toEqual([]);
  });
});
