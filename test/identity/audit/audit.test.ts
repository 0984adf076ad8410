import { expect, test } from "bun:test";

import { rowsPerSlice } from "../../../src/db/in-turn.ts";
import { write } from "../../../src/db/statement.ts";
import type { AuditAction, AuditEntry } from "../../../src/identity/audit/audit-entry.ts";
import { insertAudit } from "../../../src/identity/audit/audit.sql.ts";
import { reveals } from "../../../src/identity/audit/reveals.ts";
import { createLog } from "../../../src/telemetry/log.ts";
import { json, jsonWith, startApp, until } from "../../support/app.ts";
import { failure } from "../../support/failure.ts";
import { post } from "../../support/flights.ts";
import { contextOf, listed } from "../../support/operator.ts";
import { resources } from "../../support/resources.ts";
import { areCounted, watchReads } from "../../support/watched-reads.ts";

test("the audit list tells admins who changed what, without secrets", async () => {
  await using app = await startApp({ DESTINATIONS_ALLOW_PRIVATE: "true" });
  const body = { name: "audited", format: "json", url: "http://127.0.0.1:1099/hunter2" };
  const made = await json(await app.as("admin", "/v1/destinations", post(body), "root"));
  const one = `/v1/destinations/${String(made["id"])}`;
  await app.as("admin", one, { ...post({ filter: "false" }), method: "PATCH" }, "other");
  for (const verb of ["pause", "resume", "disable", "rotate", "retry"]) {
    await app.as("admin", `${one}/${verb}`, { method: "POST" }, "root");
  }
  await app.as("admin", one, { method: "DELETE" }, "root");
  const { id } = await json(await app.deliverSample("task_tracker", "task.completed"));
  await app.as("operator", `/v1/events/${String(id)}/replay`, { method: "POST" }, "op");
  const { data } = await json(await app.as("admin", "/v1/audit"));
  expect(data).toMatchObject([
    { actor: "op", action: "event.revealed", subject: id },
    { actor: "op", action: "event.replayed", subject: id },
    { actor: "root", action: "destination.removed" },
    { actor: "root", action: "destination.retried" },
    { actor: "root", action: "destination.rotated" },
    { actor: "root", action: "destination.disabled" },
    { actor: "root", action: "destination.resumed" },
    { actor: "root", action: "destination.paused" },
    { actor: "other", action: "destination.updated", detail: "filter: none → false" },
    { actor: "root", action: "destination.created", subject: made["id"], subjectName: "audited" },
  ]);
  expect(JSON.stringify(data)).not.toMatch(/hunter2|whsec_/);
});

test("the audit list has the names that ids have now, and what changed without secrets", async () => {
  await using app = await startApp({ DESTINATIONS_ALLOW_PRIVATE: "true" });
  const person = { name: "Ada", email: "ada@example.com" };
  const { user } = await app.services.users.ensureUser(person);
  const body = { name: "deploys", format: "json", url: "http://127.0.0.1:1099/hunter2" };
  const { id } = await json(await app.as("admin", "/v1/destinations", post(body), user.id));
  const change = (changes: object) =>
    app.as("admin", `/v1/destinations/${String(id)}`, { ...post(changes), method: "PATCH" });
  const headers = "authorization: hunter4\nx-team: hunter5";
  await change({ url: "http://127.0.0.1:1099/hunter3", headers });
  await change({ name: "deployed", filter: `event.type ==\n"${"x".repeat(200)}"`, alerts: true });
  const event = await json(await app.deliverSample("task_tracker", "task.completed"));
  await app.as("admin", `/v1/events/${String(event["id"])}/replay`, { method: "POST" });
  const entries = await listed(app, "/v1/audit", "admin");
  const nobody = { actorName: null, actorEmail: null };
  const renamed = { subject: id, subjectName: "deployed" };
  expect(entries).toMatchObject([
    { action: "event.revealed" },
    {
      action: "event.replayed",
      subjectName: "Task completed (recurring): Rotate the signing keys",
      ...nobody,
    },
    {
      detail: `name: deploys → deployed\nfilter: none → event.type == "${"x".repeat(85)}…\nalerts: false → true`,
      ...renamed,
    },
    { detail: "url: changed\nheaders: none → authorization, x-team", ...renamed },
    { action: "destination.created", actorName: "Ada", actorEmail: person.email, ...renamed },
  ]);
  expect(JSON.stringify(entries)).not.toMatch(/hunter/);
});

test("the audit list can be filtered by action, actor, subject and time", async () => {
  await using app = await startApp({ DESTINATIONS_ALLOW_PRIVATE: "true" });
  const create = async (name: string, by: string) => {
    const body = { name, format: "json", url: "http://127.0.0.1:1099/" };
    const made = await json(await app.as("admin", "/v1/destinations", post(body), by));
    app.clock.advance(60_000);
    return `/v1/destinations/${String(made["id"])}`;
  };
  const startMs = app.clock.now();
  const first = await create("first", "root");
  await create("second", "other");
  await app.as("admin", `${first}/pause`, { method: "POST" }, "root");
  const { id } = await json(await app.deliverSample("task_tracker", "task.completed"));
  await app.as("operator", `/v1/events/${String(id)}/replay`, { method: "POST" }, "root");

  const at = (minutes: number) =>
    encodeURIComponent(new Date(startMs + minutes * 60_000).toISOString());
  const found = async (query: string) =>
    (await listed(app, `/v1/audit?${query}`, "admin")).map(
      ({ action, actor }) => `${String(action)} by ${String(actor)}`,
    );
  const [created, second] = ["destination.created by root", "destination.created by other"];
  const paused = "destination.paused by root";
  const replayed = ["event.revealed by root", "event.replayed by root"];
  const expected: Record<string, readonly string[]> = {
    "": [...replayed, paused, second, created],
    "action=*": [...replayed, paused, second, created],
    "action=destination.*": [paused, second, created],
    "action=destination.*&limit=1": [paused],
    "action=destination.created": [second, created],
    "action=session.*": [],
    "actor=root": [...replayed, paused, created],
    "actor=nobody": [],
    "actor=root&action=destination.*": [paused, created],
    "subject=first": [paused, created],
    [`subject=${first.slice("/v1/destinations/".length)}`]: [paused, created],
    [`subject=${String(id)}`]: replayed,
    [`from=${at(1)}`]: [...replayed, paused, second],
    [`to=${at(1)}`]: [created],
    [`from=${at(1)}&to=${at(2)}&action=dest*&actor=other&subject=second`]: [second],
    "action=dest*&direction=backward&limit=2": [second, created],
  };
  for (const [query, entries] of Object.entries(expected)) {
    expect([query, await found(query)]).toEqual([query, [...entries]]);
  }
  // Somebody called a destination as the subject of other entries.
  await create(String(id), "namesake");
  expect(await found(`subject=${String(id)}`)).toEqual([
    "destination.created by namesake",
    ...replayed,
  ]);

  const page = await json(await app.as("admin", "/v1/audit?action=dest*&limit=1&include=total"));
  expect(page).toMatchObject({ pagination: { hasMore: true, total: 4 } });
  const { nextCursor } = Object(page["pagination"]);
  const rest = await found(`action=dest*&limit=5&cursor=${String(nextCursor)}`);
  expect(rest).toEqual([paused, second, created]);

  for (const [query, parameter] of [
    ["action=sesion.*", "action"],
    ["action=", "action"],
    ["action=session.opened&action=session.closed", "action"],
    ["actor=", "actor"],
    ["subject=", "subject"],
    ["from=yesterday", "from"],
    [`from=${at(1)}&to=${at(0)}`, "to"],
    ["user=root", "user"],
  ] as const) {
    const { code, errors } = await jsonWith(await app.as("admin", `/v1/audit?${query}`), 400);
    expect([query, code, errors]).toMatchObject([query, "invalid-parameter", [{ parameter }]]);
  }
  expect((await app.as("operator", "/v1/audit?actor=root")).status).toBe(403);
});

test("the total of a filtered audit list reads the entries that match, not the whole list", async () => {
  await using app = await startApp({ DATABASE_URL: "sqlite::memory:" });
  const { storage } = app.services;
  const row = (number: number, action: AuditAction, actor: string) => {
    const id = `aud_${String(number).padStart(32, "0")}` as const;
    return {
      id,
      createdAt: new Date(number),
      actor,
      action,
      subject: id,
      detail: null,
      tombstones: [],
    };
  };
  await storage.atomically(
    ...Array.from({ length: 2 * rowsPerSlice + 1 }, (_, number) =>
      write(insertAudit, row(number, "session.opened", "busy")),
    ),
    ...[1, 2].map((number) => write(insertAudit, row(10 ** 6 + number, "provider.added", "root"))),
  );
  let slices = 0;
  watchReads(storage, (_, rows) => (slices += areCounted(rows) ? 1 : 0));
  for (const filter of ["action=provider.added", "actor=root"]) {
    slices = 0;
    const page = await json(
      await app.as("admin", `/v1/audit?${filter}&limit=1&include=total`, {}, "reader"),
    );
    expect(page).toMatchObject({ pagination: { total: 2 } });
    expect([filter, slices]).toEqual([filter, 1]);
  }
});

test("shows an action of a newer version as stored", async () => {
  await using app = await startApp();
  const { storage } = app.services;
  const entry: AuditEntry = {
    id: `aud_${"0".repeat(32)}`,
    createdAt: new Date(app.clock.now()),
    actor: "root",
    action: "flight.renamed",
    subject: "1",
    detail: null,
  };
  await storage.atomically(write(insertAudit, { ...entry, tombstones: [] }));
  for (const query of ["", "?actor=root", "?subject=1&action=*"]) {
    const [found] = await listed(app, `/v1/audit${query}`, "admin");
    expect(found).toMatchObject({ ...entry, createdAt: entry.createdAt.toISOString() });
  }
});

test("the audit list says who read the body of an event or of a rejected delivery", async () => {
  await using app = await startApp();
  const { id } = await json(await app.deliverSample("task_tracker", "task.completed"));
  await app.deliver("task_tracker", "{}", { secret: "wrong" });
  const [rejection] = await listed(app, "/v1/rejections", "operator");
  const event = `/v1/events/${String(id)}`;
  const rejected = `/v1/rejections/${String(rejection?.["id"])}`;
  const revealed = async () =>
    (await listed(app, "/v1/audit", "admin")).map(
      ({ action, actor, subject }) => `${String(action)} ${String(subject)} by ${String(actor)}`,
    );
  const ofEvent = (by: string) => `event.revealed ${String(id)} by ${by}`;
  const ofRejection = `rejection.revealed ${String(rejection?.["id"])} by ada`;

  // The list has no bodies, and nobody without a role reads one.
  expect((await app.as("user", event)).status).toBe(403);
  expect((await app.as("operator", "/v1/events/evt_0")).status).toBe(404);
  await app.as("operator", "/v1/events", {}, "ada");
  expect(await revealed()).toEqual([]);
  for (const path of [event, event, rejected, rejected]) {
    expect((await app.as("operator", path, {}, "ada")).status).toBe(200);
  }
  // At the same time, as the console does.
  await Promise.all([1, 2].map(() => app.as("admin", event, {}, "grace")));
  expect(await revealed()).toEqual([ofEvent("grace"), ofRejection, ofEvent("ada")]);
  app.clock.advance(3_599_000);
  await app.as("operator", event, {}, "ada");
  expect(await revealed()).toHaveLength(3);
  app.clock.advance(1_000);
  await app.as("operator", event, {}, "ada");
  expect(await revealed()).toHaveLength(4);
});

test("what changed is cut after 2,000 characters, and only admins read it", async () => {
  await using app = await startApp();
  const { audit, storage } = app.services;
  const ctx = contextOf("ada", "operator");
  await storage.atomically(audit.entry(ctx, "issue.muted", "iss_1", "x".repeat(3_000)));
  const [entry] = await audit.of(contextOf("root", "admin"), "issue.muted", ["iss_1"]);
  expect(entry?.detail).toHaveLength(2_000);
  const page = { limit: 1, withTotal: false, direction: "forward", cursor: null } as const;
  for (const read of [
    async () => audit.list(ctx, page),
    async () => audit.of(ctx, "issue.muted", ["iss_1"]),
  ]) {
    expect(await failure(read())).toMatchObject({ code: "insufficient-scope" });
  }
});

const taken = resources();

test("a body that is read is in the log if the audit entry cannot be stored", async () => {
  const { logFd: fd, text } = taken.log();
  const app = await taken.app();
  let isFull = true;
  const stored: unknown[] = [];
  const recording = reveals({
    storage: {
      atomically: (...writes) => {
        if (isFull) return Promise.reject(new Error("disk full"));
        stored.push(...writes);
        return Promise.reject(new Error("enough"));
      },
    },
    audit: app.services.audit,
    clock: app.clock,
    log: createLog({ level: "info", format: "json", fd }),
  });
  const ctx = contextOf("ada", "operator");
  await recording.record(ctx, "event.revealed", "evt_1");
  await until(() => text().includes("evt_1"));
  expect(JSON.parse(text())).toMatchObject({
    msg: "failed to store an audit entry",
    actor: "ada",
    action: "event.revealed",
    subject: "evt_1",
  });
  // It was not recorded, so the next read is.
  isFull = false;
  await recording.record(ctx, "event.revealed", "evt_1");
  expect(stored).toHaveLength(1);
});
