import { afterAll, beforeAll, expect, test } from "bun:test";

import { sql } from "drizzle-orm";

import { statementsOver, write } from "../../../src/db/statement.ts";
import { insertEvent } from "../../../src/event/events.sql.ts";
import { noReplayCounts } from "../../../src/events/replay.ts";
import { insertReplay, insertReplayFailure } from "../../../src/events/replays.sql.ts";
import { sessionsTable } from "../../../src/identity/sessions/session.ts";
import { json, until } from "../../support/app.ts";
import { buttonOf } from "../../support/browser.ts";
import { manualClock } from "../../support/clock.ts";
import { consoleForTests, inBrowser, rows } from "../../support/console.ts";
import { post } from "../../support/flights.ts";
import { choosyGateway, withGateway } from "../../support/history.ts";
import { itemsOf } from "../../support/operator.ts";
import { type EventRow, eventRow } from "../../support/rows.ts";

/** Events that the gateway rejects. Beside them are an old one and a delivered one. */
const failing = 8;
const all = failing + 2;
const fits = "document.querySelector('.detail').scrollWidth <= innerWidth";
const openId = "location.hash.replace('#/replays/', '')";

const demote = statementsOver({ sessions: sessionsTable })()((db, { sessions }) =>
  db
    .update(sessions)
    .set({ roles: sql`'["user"]'` })
    .where(sql`true`),
);

inBrowser("the Replays view", () => {
  // The browser's clock runs: periods are relative to it.
  const clock = manualClock(Date.now());
  const gateway = choosyGateway();
  const { server, browser } = consoleForTests({
    env: withGateway(gateway.url),
    clock,
    size: [1_440, 900],
  });
  /** As the browser's button does, but waits for it. */
  const reload = async () => {
    const address = String(await browser.read("location.href"));
    await browser.open("about:blank");
    await browser.open(address);
  };
  const replays = async (path = "") => json(await server.app.as("operator", `/v1/replays${path}`));
  const start = async (body: object) =>
    json(await server.app.as("operator", "/v1/replays", post(body)));
  /** Lets time pass until a replay has replayed so many events: its timer may be set after the clock advanced. */
  const reaches = (id: unknown, count: number) =>
    until(async () => {
      const { resent, notified } = await replays(`/${String(id)}`);
      if (Number(resent) + Number(notified) >= count) return true;
      clock.advance(50);
      return false;
    });
  const includeDelivered = async (count: number) => {
    const label = `Also replay ${count} delivered event${count === 1 ? "" : "s"}`;
    await browser.shows(".dry-run label", label);
    await browser.click(".dry-run input[type=checkbox]");
  };
  let old: EventRow;
  const outcome = (name: string, text: string) => browser.shows(`[data-outcome=${name}]`, text);

  beforeAll(async () => {
    const { app } = server;
    const body = Buffer.from(
      JSON.stringify({ event_name: "item:completed", event_data: { id: "1", content: "new" } }),
    );
    const createdAt = new Date(clock.now() - 60_000);
    old = eventRow(1, { title: "An old title", data: { gone: "x" }, createdAt, body });
    await app.services.storage.atomically(write(insertEvent, old));
    for (let sent = 0; sent < failing; sent += 1) {
      await app.deliverSample("deploy_platform", "deploy.error");
      clock.advance(10);
    }
    await app.deliverSample("code_host", "package.published");
    clock.advance(10);
    await until(async () => {
      const path = "/v1/events?delivery=retrying";
      return itemsOf((await json(await app.as("operator", path)))["data"]).length === failing;
    });
    await browser.signIn("operator");
    await browser.has("[data-row]", all);
  }, 60_000);
  afterAll(() => gateway.stop());

  test("is empty at first, and leads to a replay", async () => {
    await browser.click("nav a[href='#/replays']", ".empty", "No replays yet");
    await browser.isAccessible();
    await browser.read("void document.querySelector('.empty a[href=\"#/replays/new\"]').click()");
    await browser.shows(".detail .empty", "Search, or choose a time or a delivery state");
    await browser.isAccessible();
    await browser.push("Dead");
    await browser.isAt("#/replays/new?delivery=dead");
    await browser.shows(".detail .empty", "No events match these filters");
  });

  test("shows what today's code makes of the same bytes before it starts", async () => {
    await browser.go("#/replays/new?since=1h", ".dry-run", `${all - 1} events would be replayed`);
    await browser.shows(".dry-run", "1 more was delivered already", "none is sent to anyone");
    await browser.until(buttonOf(`Replay ${all - 1} events`));
    await browser.isAccessible();
    await includeDelivered(1);
    await browser.shows(".dry-run", `${all} events would be replayed`);
    await browser.shows(".dry-run", `reads 1 of the newest ${all} differently`);
    await browser.shows(".repeated", "1 was delivered already and is sent a second time");
    await browser.shows(".repeated a", "operator-gateway");
    await browser.has(".samples li", all);
    await browser.shows(".samples li", "An old title");
    await browser.shows(".differences li", "task.completed");
    const change = (field: string) =>
      `[...document.querySelectorAll(".differences tr")].find((row) => row.cells[0].textContent === "${field}").innerText`;
    expect(await browser.read(change("title"))).toBe(
      "title\t− An old title\t+ Task completed: new",
    );
    expect(await browser.read(change("data.gone"))).toBe("data.gone\t− x\tnot set");
    await browser.isAccessible();
    await browser.size(390, 844);
    await browser.until(`innerWidth === 390 && ${fits}`);
    await browser.size(1_440, 900);
    expect((await replays())["data"]).toEqual([]);
  });

  test("explains bad answers at the field, or in words", async () => {
    await browser.fill("[name=ratePerSecond]", "5000");
    await browser.push(`Replay ${all} events`, "dialog[open]", "Replay 1 delivered event?");
    await browser.confirm();
    await browser.shows("#field-ratePerSecond-note.error", "Use a whole number from 1 to 1000");
    await browser.isAccessible();
    await browser.go("#/replays/new?from=yesterday", ".detail [role=alert]", "The dry run failed");
    await browser.shows(".detail [role=alert]", "Write an instant in ISO 8601");
    await browser.go("#/replays/rpl_0", ".detail [role=alert]", "No replay with this id exists");
  });

  test("starts from an issue, whose provider and state it takes", async () => {
    await browser.go("#/issues", ".issue h2", "to operator-gateway failing");
    await browser.shows(".issue a", "Replay…");
    await browser.read(
      "void [...document.querySelectorAll('.issue a')].find((it) => it.textContent === 'Replay…').click()",
    );
    await browser.until("location.hash.startsWith('#/replays/new?delivery=retrying')");
    await browser.shows(".dry-run", `${failing} events would be replayed`);
  });

  test("replays what the list of events is filtered by; can be stopped and resumed", async () => {
    await browser.go("#/events");
    await browser.has("[data-row]", all);
    await browser.set("Delivery", "retrying");
    await browser.has("[data-row]", failing);
    await reload();
    await browser.until(
      `${rows} === ${failing} && document.querySelectorAll("[data-row] .mark.retrying").length === ${failing}`,
    );
    expect(await browser.read("document.querySelectorAll('.filters select')[0].value")).toBe(
      "retrying",
    );
    await browser.click(".bar a.button");
    await browser.isAt("#/replays/new?delivery=retrying");
    await browser.shows(
      ".dry-run",
      `${failing} events would be replayed. Nothing changes in the newest ${failing}`,
    );
    await browser.fill("[name=ratePerSecond]", "1");
    await browser.press("Enter");
    await browser.shows(".detail h2", `Replay of ${failing} events`);
    const id = await browser.read(openId);
    await browser.shows("[data-row]", "Running");
    await reaches(id, 2);
    const shownDone = "parseInt(document.querySelector('[data-progress]').textContent)";
    await browser.until(`${shownDone} >= 2`);
    await reaches(id, 3);
    await browser.until(`${shownDone} >= 3`);
    await browser.shows("[data-rate]", "per second, at most 1");
    await browser.isAccessible();

    await browser.push("Stop", ".detail .mark", "Stopped");
    const { resent } = await replays(`/${String(id)}`);
    clock.advance(60_000);
    await browser.shows("[data-row]", "Stopped");
    expect(await replays(`/${String(id)}`)).toMatchObject({ status: "stopped", resent });
    await browser.shows("[role=status]", `Stopped: ${String(resent)} of ${failing}`);
    // The button keeps the focus, so that the keyboard can go on.
    await browser.read(`void ${buttonOf("Resume")}.focus()`);
    await browser.press("Enter");
    await browser.shows(".detail .mark", "Running");
    expect(await browser.read(`document.activeElement === ${buttonOf("Stop")}`)).toBe(true);
    await reaches(id, failing);
    await until(async () => {
      clock.advance(100);
      return (await replays(`/${String(id)}`))["status"] === "finished";
    });
    await browser.shows(".detail .mark", "Finished");
    await browser.shows("[data-progress]", `${failing} of ${failing}`);
    await outcome("resent", String(failing));
    await outcome("failed", "0");
    await browser.shows("[data-row]", `${failing} of ${failing} events`);
    await browser.isAccessible();
  });

  test("says that another replay is running, leads to it, and starts after it was stopped", async () => {
    const { id } = await start({ from: "2020-01-01T00:00:00Z", ratePerSecond: 1 });
    await browser.go("#/replays/new?since=24h&provider=code_host");
    await browser.shows(".dry-run", "0 events would be replayed");
    await includeDelivered(1);
    await browser.until(buttonOf("Replay 1 event"));
    await browser.shows(".form.start", "About 1\u00a0s at 50 per second");
    // It was delivered already: the form asks, and "no" starts nothing.
    await browser.push("Replay 1 event", "dialog[open]", "Replay 1 delivered event?");
    await browser.isAccessible();
    await browser.click("dialog[open] button[value=cancel]");
    await browser.lacks("dialog[open]");
    expect(await browser.count(".detail [role=alert]")).toBe(0);
    await browser.push("Replay 1 event", "dialog[open]", "are notified a second time");
    await browser.confirm();
    await browser.shows(".detail [role=alert]", "The replay was not started");
    await browser.shows(".detail [role=alert]", "Another replay is running");
    await browser.shows(".detail [role=alert] a", "Open the running replay");
    await browser.isAccessible();
    await browser.click(".detail [role=alert] a");
    await browser.until(`${openId} === ${JSON.stringify(id)}`);
    await browser.push("Stop", ".detail .mark", "Stopped");
    const other = await start({ from: "2020-01-01T00:00:00Z", ratePerSecond: 1 });
    await browser.push("Resume", ".detail [role=alert]", "The replay was not resumed");
    await server.app.as("operator", `/v1/replays/${String(other["id"])}/stop`, { method: "POST" });
    await browser.push("Resume", ".detail .mark", "Running");
    await browser.push("Stop", ".detail .mark", "Stopped");
  });

  test("shows the filters of a replay that was started elsewhere", async () => {
    await browser.go("#/replays/new?subject=task/none&idempotencyKey=x");
    await browser.shows(".detail .filters", "Idempotency key");
    await browser.shows(".detail .empty", "No events match these filters");
    await browser.go("#/replays/new");
    await browser.shows(".detail .empty", "Search, or choose a time or a delivery state");
    expect(
      await browser.read("document.querySelector('.detail .filters').innerText"),
    ).not.toContain("Subject");
  });

  test("takes a range of times, and keeps it in the address", async () => {
    await browser.go("#/replays/new?since=1h", ".dry-run", "events would be replayed");
    await browser.set("Time", "custom");
    await browser.shows(".detail .empty", "Search, or choose a time or a delivery state");
    await browser.set("From", "2020-01-01T00:00");
    await browser.shows(".dry-run", "events would be replayed");
    await browser.set("To", "2020-01-02T00:00");
    await browser.shows(".detail .empty", "No events match these filters");
    expect(await browser.read("location.hash")).toStartWith("#/replays/new?since=custom&from=20");
    await reload();
    await browser.shows(".detail .empty", "No events match these filters");
    await browser.set("To", "2019-01-02T00:00");
    await browser.shows(".detail [role=alert]", "The dry run failed");
  });

  test("links to the events that failed, with the reason, and names the destination", async () => {
    const [destination] = itemsOf(
      (await json(await server.app.as("operator", "/v1/destinations")))["data"],
    );
    const { storage } = server.app.services;
    const at = new Date(clock.now());
    const id = "rpl_ffff";
    const eventId = old.id;
    const filters = {
      from: null,
      provider: null,
      type: null,
      status: null,
      delivery: "dead",
    } as const;
    await storage.atomically(
      write(insertReplay, {
        ...noReplayCounts,
        id,
        createdAt: at,
        updatedAt: at,
        actor: "ada",
        status: "finished",
        ratePerSecond: 50,
        total: 3,
        resent: 1,
        failed: 1,
        lastError: `${eventId}: Too deep`,
        positionAt: null,
        positionId: null,
        leasedBy: null,
        leasedUntil: null,
        filters: { ...filters, to: at.toISOString(), destination: String(destination?.["id"]) },
      }),
      write(insertReplayFailure, { replayId: id, id: eventId, createdAt: at, error: "Too deep" }),
    );
    await browser.go(`#/replays/${id}`, ".detail .mark", "Finished");
    await outcome("failed", "1");
    await browser.shows(".detail", "1 more matched at the start");
    await browser.shows(".failures li", "Too deep");
    await browser.shows("[data-row]", "2 of 3 events, 1 failed", "Dead, operator-gateway");
    await browser.shows(".detail dd a", "operator-gateway");
    await browser.isAccessible();
    await browser.click(".failures a");
    await browser.isAt(`#/events/${eventId}`);
    await browser.shows(".detail h2", "Task completed: new");
  });

  test("says which role it takes, once the session's role may no longer replay", async () => {
    await browser.go("#/replays/new?since=1h");
    await browser.shows(".dry-run label", "Also replay");
    await server.app.services.storage.atomically(write(demote, {}));
    // The page may have noticed by itself.
    await browser.read("document.querySelector('.dry-run input[type=checkbox]')?.click()");
    await browser.shows("[role=alert]", "Use one with the operator or admin role");
    expect(await browser.count("input[name=token]")).toBeGreaterThan(0);
  });

  test("logs no error", () => {
    browser.loggedNoError();
  });
});
