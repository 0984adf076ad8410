import { beforeAll, expect, test } from "bun:test";

import { write } from "../../../src/db/statement.ts";
import type { AuditEntry } from "../../../src/identity/audit/audit-entry.ts";
import { insertAudit } from "../../../src/identity/audit/audit.sql.ts";
import { json } from "../../support/app.ts";
import { consoleForTests, inBrowser } from "../../support/console.ts";
import { post } from "../../support/flights.ts";

inBrowser("the audit list in a browser", () => {
  const { server, browser } = consoleForTests({ env: { DESTINATIONS_ALLOW_PRIVATE: "true" } });
  let eventId: string;

  beforeAll(async () => {
    const { app } = server;
    eventId = String((await json(await app.deliverSample("code_host", "package.published")))["id"]);
    const body = { name: "deploys", format: "json", url: "http://127.0.0.1:1099/" };
    const made = await json(await app.as("admin", "/v1/destinations", post(body), "root"));
    const rotate = `/v1/destinations/${String(made["id"])}/rotate`;
    await app.as("admin", rotate, { method: "POST" }, "root");
    const person = { name: "Ada", email: "ada@example.com" };
    const { user } = await app.services.users.ensureUser(person);
    const patch = { ...post({ filter: "true", maxConcurrent: 4 }), method: "PATCH" };
    await app.as("admin", `/v1/destinations/${String(made["id"])}`, patch, user.id);
    await app.as("operator", `/v1/events/${eventId}/replay`, { method: "POST" }, "op");
    await browser.signIn("admin", "[data-row]", "GitHub");
  }, 60_000);

  test("lists who did what, newest first, and opens the event that was replayed", async () => {
    await browser.press("0");
    await browser.shows("h1", "Audit");
    await browser.until("document.querySelectorAll('.audit-entry .title').length >= 5");
    const entries = `[...document.querySelectorAll("li .audit-entry")].map((row) =>
      [".title", ".by"].map((part) => row.querySelector(part).textContent).join(" by ")).join()`;
    expect(await browser.read(entries)).toBe(
      "Signed in by test,Event body read by op,Event replayed by op,Destination updated by Ada ada@example.com,Destination secret rotated by root,Destination created by root",
    );
    await browser.shows("li.section h2", "Today");
    await browser.shows("li .audit-entry .changes", "Filter: none → true");
    await browser.shows("li .audit-entry .changes", "Deliveries at the same time: 8 → 4");
    await browser.isAccessible();
    await browser.click("a.audit-entry[href*='#/destinations/dst_']", ".detail h2", "deploys");
    await browser.shows(".history", "Created by root, ", "Updated by Ada ada@example.com, ");
    expect(await browser.read("document.querySelector('a.row.destination .by').textContent")).toBe(
      "root",
    );
    await browser.click(".history a", "h1", "Audit");
    await browser.has("li .audit-entry", 3);
    await browser.go("#/audit");
    await browser.click(`a.audit-entry[href="#/events/${eventId}"]`);
    await browser.shows(".step h3", "Received and verified");
  });

  test("filters by action and by who did it", async () => {
    await browser.go("#/audit?action=destination.*");
    await browser.has("li .audit-entry", 3);
    expect(await browser.read("document.querySelector('form.filters select').value")).toBe(
      "destination.*",
    );
    await browser.go("#/audit?actor=op");
    await browser.has("li .audit-entry", 2);
    await browser.shows("li .audit-entry", "Event replayed");
    await browser.isAccessible();
    await browser.go("#/audit?actor=nobody", ".empty", "No entries match these filters");
    await browser.click("form.filters a");
    await browser.until("document.querySelectorAll('li .audit-entry').length >= 5");
  });

  test("shows an action of a newer version", async () => {
    const { storage } = server.app.services;
    const entry: AuditEntry = {
      id: `aud_${"f".repeat(32)}`,
      createdAt: new Date(),
      actor: "newer",
      action: "flight.gate_changed",
      subject: "7",
      detail: null,
    };
    await storage.atomically(write(insertAudit, { ...entry, tombstones: [] }));
    await browser.go("#/audit?actor=newer", "li .audit-entry .title", "Flight gate changed");
    await browser.go("#/audit");
    await browser.until("document.querySelectorAll('li .audit-entry').length >= 6");
  });

  test("is in the menu of a phone, with nothing cut off", async () => {
    await browser.size(390, 844);
    await browser.go("#/health");
    await browser.click(".bottom button");
    await browser.click("nav a[href='#/audit']");
    await browser.until("document.querySelectorAll('.audit-entry .title').length >= 5");
    expect(await browser.read("document.querySelector('.side').checkVisibility()")).toBe(false);
    expect(await browser.read("document.documentElement.scrollWidth")).toBe(390);
    const isCut = `[...document.querySelectorAll("li .audit-entry .cell")].some(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)`;
    expect(await browser.read(isCut)).toBe(false);
    await browser.isAccessible();
    await browser.size(1_280, 800);
  });

  test("asks who signed in by a link without a name, once, and has the answer", async () => {
    const { consoleCodes } = server.app.services;
    // As when a session ends. Who signs out is forgotten.
    const open = async () => {
      await browser.cdp("Network.clearBrowserCookies");
      await browser.open("about:blank");
      await browser.open(`${server.url}/console#code=${consoleCodes.issue("admin", 60)}`);
    };
    await open();
    await browser.shows(".who", "Signed in as admin");
    await browser.isAccessible();
    await browser.click(".ask [name=name]");
    await browser.type("Grace");
    await browser.click(".ask [type=submit]");
    await browser.shows(".who", "Signed in as Grace (admin)");
    expect(await browser.count(".ask")).toBe(0);
    await open();
    await browser.shows(".who", "Signed in as Grace (admin)");
    await browser.go("#/audit?action=session.opened", "li .audit-entry .by", "Grace by link");
    expect(await browser.count(".ask")).toBe(0);
    await browser.go("#/audit");
  });

  test("is for admins only, and keeps operators signed in who open its address", async () => {
    await browser.click(".tools button:last-child", "[role=alert]", "signed out");
    await browser.signIn("operator", "[data-row]", "GitHub");
    await browser.go("#/audit", ".empty", "Admins only");
    await browser.go("#/health", "h1", "Health");
    expect(await browser.count("nav a[href='#/audit']")).toBe(0);
  });
});
