// A minimal server with Skyhook's guarantee: verifies the HMAC of the raw body and stores event and
// notification by group commit, with prepared statements. It uses Skyhook's schema and stores the same data,
// but has no framework, limits, log, metrics, request ids or second provider. Its distance to bare Bun.serve
// is the cost of the guarantee, and its distance to Skyhook is Skyhook's own overhead.

import { Database } from "bun:sqlite";
import { timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";

import { firstPositionAt, idAt, makeTail } from "../../src/base/ids.ts";

const { PORT, DATABASE = "", SECRET = "" } = process.env;

const database = new Database(DATABASE);
database.run("pragma journal_mode = wal");
database.run("pragma synchronous = full");
database.run("pragma mmap_size = 1073741824");
const schema = new URL("../../src/schema/sqlite.sql", import.meta.url);
database.run(readFileSync(schema, "utf8"));

const insertEvent = database.prepare(`
  insert into events (position, tail, provider, type, status, idempotency_key, occurred_at, subject, title,
    url, actor, data, headers, address, signed_with, body_bytes, duplicates, body_hash, body)
  values (?, ?, 'code_host', 'workflow_run.completed', 'accepted', ?, ?, ?, ?, ?, ?, ?, ?, ?, 'current', ?, 0, ?, ?)
  on conflict do nothing`);
const insertNotification = database.prepare(`
  insert into notifications (position, event, title, text, url, severity)
  values (?, ?, ?, ?, ?, 'error')`);

interface Unit {
  readonly event: (string | number | Uint8Array)[];
  readonly notification: (string | number)[];
  done(isNew: boolean): void;
}
let waiting: Unit[] = [];

function flush(): void {
  const group = waiting;
  waiting = [];
  database.run("begin immediate");
  const news = group.map(({ event, notification }) => {
    const isNew = insertEvent.run(...event).changes === 1;
    if (isNew) insertNotification.run(...notification);
    return isNew;
  });
  database.run("commit");
  for (const [index, unit] of group.entries()) unit.done(news[index] === true);
}

function commit(unit: Omit<Unit, "done">): Promise<boolean> {
  return new Promise((done) => {
    if (waiting.length === 0) setImmediate(flush);
    waiting.push({ ...unit, done });
  });
}

const keyed = new Bun.CryptoHasher("sha256", SECRET);
let last = 0;

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(PORT),
  async fetch(request, server) {
    const body = await request.bytes();
    const signature = request.headers.get("x-codehost-signature-256") ?? "";
    const mac = keyed.copy().update(body).digest();
    const claimed = Buffer.from(signature.slice("sha256=".length), "hex");
    if (claimed.length !== mac.length || !timingSafeEqual(mac, claimed)) {
      return new Response(null, { status: 401 });
    }
    const { workflow_run: run, repository, sender } = JSON.parse(new TextDecoder().decode(body));
    const now = Date.now();
    last = Math.max(last + 1, firstPositionAt(now));
    const [position, tail] = [last, makeTail()];
    const title = `${run.name} failed on ${run.head_branch}: ${run.display_title} (${repository.full_name} #${run.run_number})`;
    const data = JSON.stringify({
      workflow: run.name,
      conclusion: run.conclusion,
      branch: run.head_branch,
      commit: run.head_sha.slice(0, 12),
      number: String(run.run_number),
      attempt: String(run.run_attempt),
      trigger: run.event,
      repository: repository.full_name,
    });
    const headers = Object.fromEntries(request.headers);
    delete headers["x-codehost-signature-256"];
    const key = `code_host:${request.headers.get("x-codehost-delivery")}`;
    const hash = new Bun.CryptoHasher("sha256").update(body).digest().subarray(0, 16);
    const address = server.requestIP(request)?.address ?? "";
    const about = [`workflow_run/${run.id}`, title, run.html_url, sender.login, data];
    const receipt = [JSON.stringify(headers), address, body.length, hash, body];
    const isNew = await commit({
      event: [position, tail, key, Date.parse(run.updated_at), ...about, ...receipt],
      notification: [position, position, title, `by ${sender.login}`, run.html_url],
    });
    const id = idAt("evt", position, tail);
    return Response.json({ status: isNew ? "accepted" : "duplicate", id, idempotencyKey: key });
  },
});

process.on("SIGTERM", () => process.exit(0));
