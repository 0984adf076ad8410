import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";

import { sql } from "drizzle-orm";

import { statementsOver, write } from "../../../src/db/statement.ts";
import { replaysTable } from "../../../src/events/replay.ts";
import { rejectionsTable } from "../../../src/inbound/model/rejection.ts";
import { json } from "../../support/app.ts";
import { consoleForTests, inBrowser, pastClock } from "../../support/console.ts";
import { post } from "../../support/flights.ts";
import { folderForTests } from "../../support/folder.ts";
import { choosyGateway, withGateway } from "../../support/history.ts";

const choice =
  "[...document.querySelectorAll('label')].findLast((label) => label.textContent.startsWith('Provider'))?.querySelector('select')";
const registered = [
  "task_tracker",
  "shared_inbox",
  "deploy_platform",
  "code_host",
  "payment_processor",
];
const own = ["bookings", "skyhook"];

const statement = statementsOver({ rejections: rejectionsTable, replays: replaysTable });
const newer = sql.raw("'newer-word'");
const newStatus = statement()((db, { replays }) =>
  db.update(replays).set({ status: newer }).where(sql.raw("true")),
);
const newReason = statement()((db, { rejections }) =>
  db.update(rejections).set({ reason: newer }).where(sql.raw("true")),
);

inBrowser("in the console", () => {
  const clock = pastClock();
  const gateway = choosyGateway();
  const { server, browser } = consoleForTests({
    env: { ...withGateway(gateway.url), DESTINATIONS_ALLOW_PRIVATE: "operators" },
    clock,
  });
  const deliver = async (provider: string, event: string) =>
    String((await json(await server.app.deliverSample(provider, event)))["id"]);

  beforeAll(async () => {
    await deliver("code_host", "package.published");
    await deliver("task_tracker", "task.completed");
    await server.app.deliver("code_host", "{}", { secret: "another" });
    await server.app.deliver("task_tracker", "{}", { secret: "another" });
    await browser.signIn("admin");
    await browser.has("[data-row]", 2);
  }, 60_000);
  afterAll(() => gateway.stop());

  test.each([
    ["#/events", [...registered, ...own]],
    ["#/rejections", registered],
    ["#/replays/new?since=24h", [...registered, ...own]],
  ])("the provider filter of %s offers the registered providers", async (hash, expected) => {
    await browser.go(hash);
    await browser.until(`${choice}?.options.length > ${expected.length}`);
    const options = await browser.read(`[...${choice}.options].map(({ value }) => value).join()`);
    expect(options).toBe(["", ...expected].join());
    await browser.read(
      `((select) => { select.value = "code_host"; select.dispatchEvent(new Event("change")); })(${choice})`,
    );
    await browser.until("location.hash.includes('provider=code_host')");
    if (hash.includes("replays")) await browser.shows(".dry-run", "1 more was delivered already");
    else await browser.has("[data-row]", 1);
    await browser.isAccessible();
  });

  test("the destination filter finds what was sent to one, and what a replay of it would do", async () => {
    const select =
      "[...document.querySelectorAll('label')].find((label) => label.textContent.startsWith('Destination'))?.querySelector('select')";
    await browser.go("#/events");
    await browser.until(`${select}?.options.length === 2`);
    await browser.set("Destination", "operator-gateway");
    await browser.until("location.hash.includes('destination=operator-gateway')");
    await browser.has("[data-row]", 2);
    await browser.go("#/events?destination=operator-gateway&provider=code_host");
    await browser.has("[data-row]", 1);
    await browser.go("#/replays/new?destination=operator-gateway&since=24h");
    await browser.shows(".dry-run", "2 more were delivered already");
    await browser.isAccessible();
  });

  test("a filter is removed by its chip", async () => {
    await browser.go("#/events?provider=code_host");
    await browser.has("[data-row]", 1);
    await browser.click(".chip .remove");
    await browser.has("[data-row]", 2);
  });

  test("equal rejections in a row are shown as one, until the rest is asked for", async () => {
    for (const size of [1, 2, 3])
      await server.app.deliver("code_host", `{"a":${size}}`, { secret: "another" });
    await browser.go("#/rejections", ".rows", "2 more like this, the oldest ");
    await browser.shows("[data-row] .cause", "Another secret, or changed body");
    await browser.has("[data-row]", 3);
    await browser.isAccessible();
    await browser.click(".gap button");
    await browser.has("[data-row]", 5);
  });

  test("a filter that only a link sets is shown, and can be removed", async () => {
    await browser.go("#/events?subject=nothing", ".filters .label", "Subject");
    await browser.shows(".empty", "No events match these filters");
    await browser.click(".filters a");
    await browser.has("[data-row]", 2);
    expect(await browser.read("document.querySelector('.filters').innerText")).not.toContain(
      "Subject",
    );
  });

  test("a notification to two destinations is resent only after a replay", async () => {
    const second = { name: "second", url: gateway.url, format: "json" };
    const made = await server.app.as("admin", "/v1/destinations", post(second));
    expect(made.status).toBe(201);
    const before = gateway.received.length;
    const id = await deliver("deploy_platform", "deploy.error");
    await browser.go(`#/events/${id}`);
    await browser.has(".detail tbody tr", 2);
    expect(gateway.received.length).toBe(before + 2);
    // The failed ones are open, and are compared with the last success.
    await browser.has(".detail .lines details[open]", 2);
    await browser.shows(".detail .lines .quiet", "next attempt in", "HTTP 503");
    await browser.shows(".detail .lines li", "The last delivery that succeeded was");
    await browser.shows(".detail .lines li", "Nothing was delivered there before");
    const { id: paused } = await json(made);
    await server.app.as("admin", `/v1/destinations/${String(paused)}/pause`, { method: "POST" });
    await browser.go("#/events");
    await browser.go(`#/events/${id}`, ".detail .lines .quiet", "waits until it is resumed");
    await browser.go(`#/destinations/${String(paused)}`);
    await browser.shows(".detail .lines .quiet", "waits until it is resumed");
    await browser.go(`#/events/${id}`);
    const delivered = "[...document.querySelectorAll('[data-row]')].at(-1)";
    await browser.until(`${delivered} !== undefined`);
    await browser.read(`void ${delivered}.click()`);
    await browser.has(".detail .lines details:not([open])", 1);
    await browser.click(".detail .lines summary");
    await browser.shows(".detail .lines details[open] td", "200");
    await browser.go(`#/events/${id}`, ".step h3", "Retrying");
    const heading = "document.querySelector('.step h3').textContent";
    expect(await browser.read(heading)).toBe("Notification Retrying");
    await browser.click(".actions .primary");
    await browser.confirm();
    await browser.until(`${heading}.startsWith("Notification, resent")`);
    await browser.isAccessible();
  });

  test("words of a newer version are shown as they are", async () => {
    const { app } = server;
    await app.as("operator", "/v1/replays", post({ from: "2020-01-01T00:00:00Z" }));
    await app.services.storage.atomically(write(newStatus, {}), write(newReason, {}));
    await browser.go("#/replays", "[data-row] .mark", "Newer word");
    await browser.go("#/rejections", "[data-row] .badge", "Newer word");
    await browser.click("[data-row]");
    await browser.shows(".explanation", "A newer version of Skyhook rejected the webhook");
    await browser.go("#/issues", ".issue", "Newer word", "Open the latest delivery");
  });
});

inBrowser("a search of many events", () => {
  const folder = folderForTests();
  const file = join(folder, "skyhook.db");
  const { browser } = consoleForTests({ env: { DATABASE_URL: `sqlite:${file}` } });

  beforeAll(async () => {
    await browser.signIn("operator", ".empty", "No events yet");
    const numbers =
      "with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 20001)";
    const database = new Database(file);
    database.run(
      `${numbers} insert into events (position, tail, provider, type, status, idempotency_key, occurred_at, title, data, body_bytes, duplicates)
        select n, n, 'p', 't', 'ignored', n, 0, case when n <= 300 then 'a' || n else '' end, '{}', 0, 0 from numbers`,
    );
    database.run(
      `${numbers} insert into event_words (rowid, words) select n, 'a' || n from numbers where n <= 300`,
    );
    database.close();
  }, 60_000);

  test.each([
    // More than 200 words begin with it.
    ["a", "a", 0],
    ["a*", "a", 0],
    ["a29", "a29*", 11],
    ["a299 ", "a299", 1],
    ["ä".repeat(1_200), `${"ä".repeat(999)}*`, 0],
    ["kim@example.net", "kim@example.net*", 0],
    ["🛫 !", "🛫 !", 0],
  ])("finds %j, or says that there is none", async (typed, q, count) => {
    await browser.go("#/events");
    await browser.until("document.querySelector('.chip.q input').value === ''");
    await browser.read("void document.querySelector('.chip.q input').focus()");
    await browser.type(typed);
    await browser.until(
      `new URLSearchParams(location.hash.split("?")[1]).get("q") === ${JSON.stringify(q)}`,
    );
    if (count === 0) await browser.shows(".empty", "No events match these filters");
    await browser.has("[data-row]", count);
  });
});
