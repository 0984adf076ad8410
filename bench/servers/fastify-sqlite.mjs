// The peer for webhooks: a good Node implementation of the same guarantee. Verifies the HMAC of the raw body,
// stores event and notification in one durable transaction per request, then responds. It uses Skyhook's
// schema and stores the same data.

import { createHash, createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(new URL("../peers/package.json", import.meta.url));
const Database = require("better-sqlite3");
const fastify = require("fastify");

const { PORT, DATABASE, SECRET } = process.env;

const database = new Database(DATABASE);
database.pragma("journal_mode = wal");
database.pragma("synchronous = full");
const schema = new URL("../../src/schema/sqlite.sql", import.meta.url);
database.exec(readFileSync(schema, "utf8"));

const insertEvent = database.prepare(`
  insert into events (id, seq, provider, type, status, idempotency_key, occurred_at, created_at, subject, title,
    url, actor, data, headers, address, signed_with, body_bytes, duplicates, body_hash, body)
  values (@id, (select coalesce(max(seq), 0) + 1 from events), 'code_host', @type, 'accepted', @idempotencyKey, @occurredAt, @createdAt, @subject, @title,
    @url, @actor, @data, @headers, @address, 'current', @bodyBytes, 0, @bodyHash, @body)
  on conflict do nothing`);
const insertNotification = database.prepare(`
  insert into notifications (id, event_id, created_at, title, text, url, severity, status, attempt_count,
    delivered_at)
  values (@id, @eventId, @createdAt, @title, @text, @url, 'error', 'delivered', 0, @createdAt)`);

const store = database.transaction((event, notification) => {
  if (insertEvent.run(event).changes === 0) return false;
  insertNotification.run(notification);
  return true;
});

const app = fastify({ logger: false });
app.removeAllContentTypeParsers();
app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_, body, done) =>
  done(null, body),
);

app.post("/webhooks/code_host", (request, reply) => {
  const { headers, body } = request;
  if (!verifies(body, headers["x-codehost-signature-256"])) {
    return reply.code(401).send({ code: "invalid-signature" });
  }
  const payload = JSON.parse(body.toString("utf8"));
  const event = eventOf(payload, request);
  const isNew = store(event, {
    id: orderedId("ntf"),
    eventId: event.id,
    createdAt: event.createdAt,
    title: event.title,
    text: `by ${event.actor} · ${event.subject}`,
    url: event.url,
  });
  const { id, idempotencyKey, type } = event;
  return reply.send({ status: isNew ? "accepted" : "duplicate", id, idempotencyKey, event: type });
});

/** Ids ordered by time, like Skyhook's. Random ids would slow down the primary key. */
function orderedId(prefix) {
  const time = Date.now().toString(16).padStart(12, "0");
  return `${prefix}_${time}${randomUUID().replaceAll("-", "").slice(12)}`;
}

function verifies(body, header = "") {
  const expected = createHmac("sha256", SECRET).update(body).digest();
  const given = Buffer.from(header.slice("sha256=".length), "hex");
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function eventOf(payload, { headers, body, ip }) {
  const run = payload.workflow_run;
  const kept = Object.entries(headers).filter(
    ([name]) => !/signature|authorization|cookie/.test(name),
  );
  const { conclusion, head_branch: branch, run_number: number, event: trigger } = run;
  const repository = payload.repository.full_name;
  return {
    id: orderedId("evt"),
    type: `${headers["x-codehost-event"]}.${payload.action}`,
    idempotencyKey: `code_host:${headers["x-codehost-delivery"]}`,
    occurredAt: Date.parse(run.updated_at),
    createdAt: Date.now(),
    subject: `workflow_run/${run.id}`,
    title: `${run.name} ${conclusion} on ${branch}: ${run.display_title} (${repository} #${number})`,
    url: run.html_url,
    actor: run.triggering_actor.login,
    data: JSON.stringify({ workflow: run.name, conclusion, branch, number, trigger, repository }),
    headers: JSON.stringify(Object.fromEntries(kept)),
    address: ip,
    bodyBytes: body.length,
    bodyHash: createHash("sha256").update(body).digest().subarray(0, 16),
    body,
  };
}

await app.listen({ host: "127.0.0.1", port: Number(PORT) });

process.on("SIGTERM", () => {
  void app.close().then(() => {
    database.close();
    process.exit(0);
  });
});
