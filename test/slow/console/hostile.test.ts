import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { eventsByKeys, renormaliseEvent } from "../../../src/gateway/events/events.sql.ts";
import { step } from "../../../src/db/statement.ts";
import { json, sample } from "../../support/app.ts";
import { type Browser, chromium, openBrowser } from "../../support/browser.ts";
import { type ConsoleServer, pastClock, signIn, startConsole } from "../../support/console.ts";
import { addFlight, bookingBody, passenger, post } from "../../support/flights.ts";
import { itemsOf } from "../../support/operator.ts";

const markup = [
  `<img src=x onerror="window.hacked='img'">`,
  `</script><script>window.hacked='script'</script>`,
  `<svg onload="window.hacked='svg'"></svg>`,
  `"><iframe srcdoc="<script>parent.hacked='frame'</script>"></iframe>`,
  `{{constructor.constructor("window.hacked='template'")()}}`,
].join(" ");
/** Turns what follows around; a name that ends in `exe.gpj` reads as a picture. */
const turned = "safe\u202Egpj.exe";
const script = "javascript:window.hacked='link'";

describe.skipIf(chromium === null)("hostile payloads in a browser", () => {
  const clock = pastClock();
  let server: ConsoleServer;
  let browser: Browser;
  const hashes: string[] = [];

  beforeAll(async () => {
    server = await startConsole({ TRUSTED_PROXY_HOPS: "0" }, clock);
    const { app } = server;
    const task = {
      event_name: "item:added",
      event_data: { id: markup, content: `${markup} ${turned}`, url: script },
      initiator: { full_name: markup },
    };
    const headers = { "x-note": markup.replaceAll('"', "'"), "user-agent": `${markup} ${script}` };
    const run = sample("code_host", "workflow_run.completed", clock).body;
    const bodies: readonly (readonly [string, string, Record<string, string>])[] = [
      ["task_tracker", JSON.stringify(task), headers],
      [
        "code_host",
        // Every text in it, links included.
        JSON.stringify(run, (_, value: unknown) =>
          typeof value === "string" && value.startsWith("http") ? script : value,
        ),
        { ...headers, "x-codehost-event": "workflow_run" },
      ],
      ["task_tracker", `not json ${markup} ${turned}\u0000\u001b[31m`, headers],
    ];
    for (const [id, body, sent] of bodies) {
      await app.deliver(id, body, { headers: sent });
      await app.deliver(id, body, { headers: sent, secret: "wrong" });
    }
    const flight = await addFlight(app);
    const people = [{ ...passenger(), firstName: markup.slice(0, 58), lastName: turned }];
    await app.as(
      "user",
      "/v1/api/bookings",
      post({ ...bookingBody(flight.id), passengers: people }),
    );
    for (const [view, path] of [
      ["events", "/v1/events"],
      ["refused", "/v1/rejections"],
      ["bookings", "/v1/api/bookings"],
    ]) {
      const { data } = await json(await app.as("admin", String(path)));
      hashes.push(...itemsOf(data).map(({ id }) => `#/${view}/${String(id)}`));
    }
    // No provider's link gets in that leads to a script; the page must not rely on that.
    const { storage } = app.services;
    const { data } = await json(await app.as("admin", "/v1/events?provider=code_host"));
    const keys = [String(itemsOf(data)[0]?.["idempotencyKey"])];
    const [stored] = await storage.all(eventsByKeys, { keys });
    if (stored === undefined) throw new Error("The event is not there");
    await storage.atomically(step(renormaliseEvent, { ...stored, url: script }));
    browser = await openBrowser();
    await signIn(browser, server, "admin");
    await browser.until("document.querySelector('[data-row]') !== null");
  }, 60_000);
  afterAll(async () => {
    browser.close();
    await server.stop();
  });

  test("are shown as text: nothing runs, nothing becomes an element, no link leads to a script", async () => {
    expect(hashes.length).toBeGreaterThanOrEqual(7);
    for (const hash of hashes) {
      await browser.read(`void (location.hash = ${JSON.stringify(hash)})`);
      await browser.until(
        "document.querySelector('.detail article') !== null && document.querySelector('.spinner') === null",
      );
      await browser.read(
        "void document.querySelectorAll('details').forEach((it) => (it.open = true))",
      );
      await browser.read("void [...document.querySelectorAll('.tabs button')].at(-1)?.click()");
      expect(await browser.read("typeof window.hacked")).toBe("undefined");
      const made =
        "document.querySelectorAll('img, svg, iframe, script:not([src]), [onerror], [onload]').length";
      expect([hash, await browser.read(made)]).toEqual([hash, 0]);
      const links = `[...document.querySelectorAll("a")].filter(({ protocol, target, rel }) =>
        !/^https?:$/.test(protocol) || (target === "_blank" && !rel.includes("noopener"))).length`;
      expect([hash, await browser.read(links)]).toEqual([hash, 0]);
      expect(await browser.read("document.body.textContent.includes('\\u202e')")).toBe(false);
    }
  });

  test("are legible all the same, with what is not seen named", async () => {
    const [hash] = hashes.filter((each) => each.startsWith("#/events/")).slice(-1);
    await browser.read(`void (location.hash = ${JSON.stringify(hash)})`);
    await browser.shows(".detail", "<img src=x onerror=");
    await browser.shows(".detail .unseen", "U+202E");
  });

  test("are stopped by the browser too, were a line of code to let them through", async () => {
    const refused = (statement: string) =>
      browser.read(`(() => { try { ${statement}; return "done" } catch { return "refused" } })()`);
    expect(await refused("document.body.innerHTML = '<p>x</p>'")).toBe("refused");
    expect(await refused("document.createElement('script').src = 'data:,1'")).toBe("refused");
    expect(await refused("document.write('x')")).toBe("refused");
    await browser.read(`void (() => {
      const link = Object.assign(document.createElement("a"), { href: ${JSON.stringify(script)} });
      document.body.append(link); link.click();
    })()`);
    await Bun.sleep(50);
    expect(await browser.read("typeof window.hacked")).toBe("undefined");
  });
});
