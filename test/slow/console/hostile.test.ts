import { beforeAll, expect, test } from "bun:test";

import { write } from "../../../src/db/statement.ts";
import { eventsByKeys, reinterpretEvent } from "../../../src/event/events.sql.ts";
import { json, sample } from "../../support/app.ts";
import { consoleForTests, inBrowser, pastClock } from "../../support/console.ts";
import { addFlight, bookingBody, passenger, post } from "../../support/flights.ts";
import { itemsOf } from "../../support/operator.ts";

const markup = [
  `<img src=x onerror="window.hacked='img'">`,
  `</script><script>window.hacked='script'</script>`,
  `<svg onload="window.hacked='svg'"></svg>`,
  `"><iframe srcdoc="<script>parent.hacked='frame'</script>"></iframe>`,
  `{{constructor.constructor("window.hacked='template'")()}}`,
].join(" ");
/** A right-to-left override: displayed as `safeexe.jpg`. */
const reversed = "safe\u202Egpj.exe";
const script = "javascript:window.hacked='link'";

inBrowser("hostile payloads in a browser", () => {
  const clock = pastClock();
  const { server, browser } = consoleForTests({ env: { TRUSTED_PROXY_HOPS: "0" }, clock });
  const hashes: string[] = [];

  beforeAll(async () => {
    const { app } = server;
    const task = {
      event_name: "item:added",
      event_data: { id: markup, content: `${markup} ${reversed}`, url: script },
      initiator: { full_name: markup },
    };
    const headers = { "x-note": markup.replaceAll('"', "'"), "user-agent": `${markup} ${script}` };
    const run = sample("code_host", "workflow_run.completed", clock).body;
    const bodies: readonly (readonly [string, string, Record<string, string>])[] = [
      ["task_tracker", JSON.stringify(task), headers],
      [
        "code_host",
        // Replaces every URL in the payload.
        JSON.stringify(run, (_, value: unknown) =>
          typeof value === "string" && value.startsWith("http") ? script : value,
        ),
        { ...headers, "x-codehost-event": "workflow_run" },
      ],
      ["task_tracker", `not json ${markup} ${reversed}\u0000\u001b[31m`, headers],
    ];
    for (const [id, body, sent] of bodies) {
      await app.deliver(id, body, { headers: sent });
      await app.deliver(id, body, { headers: sent, secret: "wrong" });
    }
    const flight = await addFlight(app);
    const hostile = markup.slice(0, 58);
    const people = [{ ...passenger(), firstName: hostile, lastName: hostile }];
    await app.as(
      "user",
      "/v1/api/bookings",
      post({ ...bookingBody(flight.id), passengers: people }),
    );
    for (const [view, path] of [
      ["events", "/v1/events"],
      ["rejections", "/v1/rejections"],
      ["bookings", "/v1/api/bookings"],
    ]) {
      const { data } = await json(await app.as("admin", String(path)));
      hashes.push(...itemsOf(data).map(({ id }) => `#/${view}/${String(id)}`));
    }
    // Interpretation drops such links. Store one directly: the page must not rely on that.
    const { storage } = app.services;
    const { data } = await json(await app.as("admin", "/v1/events?provider=code_host"));
    const keys = [String(itemsOf(data)[0]?.["idempotencyKey"])];
    const [stored] = await storage.all(eventsByKeys, { keys });
    if (stored === undefined) throw new Error("The event was not stored");
    await storage.atomically(write(reinterpretEvent, { ...stored, url: script }));
    await browser.signIn("admin");
    await browser.has("[data-row]");
  }, 60_000);

  test("are shown as text: no script runs, no element is created, no link has a script URL", async () => {
    expect(hashes.length).toBeGreaterThanOrEqual(7);
    for (const hash of hashes) {
      await browser.read(`void (location.hash = ${JSON.stringify(hash)})`);
      await browser.until(
        "document.querySelector('.detail article') !== null && document.querySelector('.loading, .spinner') === null",
      );
      await browser.read("void document.querySelector('.sections button:nth-child(2)')?.click()");
      await browser.read(
        "void document.querySelectorAll('details').forEach((it) => (it.open = true))",
      );
      await browser.read("void [...document.querySelectorAll('.tabs button')].at(-1)?.click()");
      expect(await browser.read("typeof window.hacked")).toBe("undefined");
      const made =
        "document.querySelectorAll('img:not(.brand img), svg:not(.icon), iframe, script:not([src]), [onerror], [onload]').length";
      expect([hash, await browser.read(made)]).toEqual([hash, 0]);
      const links = `[...document.querySelectorAll("a")].filter(({ protocol, target, rel }) =>
        !/^https?:$/.test(protocol) || (target === "_blank" && !rel.includes("noopener"))).length`;
      expect([hash, await browser.read(links)]).toEqual([hash, 0]);
      expect(await browser.read("document.body.textContent.includes('\\u202e')")).toBe(false);
    }
  });

  test("stay readable, with invisible characters shown by their code", async () => {
    const [hash] = hashes.filter((each) => each.startsWith("#/events/")).slice(-1);
    await browser.read(`void (location.hash = ${JSON.stringify(hash)})`);
    await browser.shows(".detail", "<img src=x onerror=");
    await browser.click(".sections button:nth-child(2)", ".detail .invisible", "U+202E");
  });

  test("are also blocked by the browser's policy", async () => {
    const resultOf = (statement: string) =>
      browser.read(`(() => { try { ${statement}; return "done" } catch { return "blocked" } })()`);
    expect(await resultOf("document.body.innerHTML = '<p>x</p>'")).toBe("blocked");
    expect(await resultOf("document.createElement('script').src = 'data:,1'")).toBe("blocked");
    expect(await resultOf("document.write('x')")).toBe("blocked");
    await browser.read(`void (() => {
      const link = Object.assign(document.createElement("a"), { href: ${JSON.stringify(script)} });
      document.body.append(link); link.click();
    })()`);
    await Bun.sleep(50);
    expect(await browser.read("typeof window.hacked")).toBe("undefined");
  });
});
