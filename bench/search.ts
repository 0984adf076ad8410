import { Database } from "bun:sqlite";
import { join } from "node:path";

import { openStorage } from "../src/db/open.ts";
import { paginate } from "../src/db/paginate.ts";
import { write } from "../src/db/statement.ts";
import type { Storage } from "../src/db/storage.ts";
import type { EventFilters } from "../src/events/event-filters.ts";
import { indexQueued } from "../src/events/event-search.sql.ts";
import { eventsMatching } from "../src/events/event-search.ts";
import { schema } from "../src/schema/schema.ts";

import { withFolder } from "./folder.ts";
import { environment, table } from "./report.ts";
import { fill } from "./rows.ts";
import type { Options, Suite } from "./suite.ts";

/** Search and filters in a long list of events. */
export const search: Suite = {
  name: "search",
  about: "a search in a million events, and the first page of each filter",
  run: (options) => withFolder("search", (folder) => measure(join(folder, "skyhook.db"), options)),
};

const batchSize = 1_000;
const stepMs = 1_000;
const maxRows = 1_000_000;

/** A search, and how many results its first page has. */
interface Case {
  readonly name: string;
  /** The nth query, so that each asks for something else where it can. */
  readonly filters: (n: number, rows: number) => EventFilters;
}

const cases: readonly Case[] = [
  { name: "no filter", filters: () => ({}) },
  { name: "a selective word", filters: (n) => ({ q: `word${(n * 37) % 9_973}` }) },
  { name: "two selective words", filters: (n) => ({ q: `word${n} word${n + 1}` }) },
  { name: "a word of all events", filters: () => ({ q: "deploy" }) },
  { name: "a phrase of all events", filters: () => ({ q: '"failed on main"' }) },
  { name: "a prefix of 1 % of the words", filters: (n) => ({ q: `word${10 + (n % 90)}*` }) },
  { name: "a prefix of a word of all events", filters: () => ({ q: "deplo*" }) },
  { name: "a common and a selective word", filters: (n) => ({ q: `deploy word${n}` }) },
  {
    name: "a common word, another provider's type",
    filters: () => ({ q: "deploy", provider: "provider_0", type: "kind_1.completed" }),
  },
  { name: "a common word, dead", filters: () => ({ q: "deploy", delivery: "dead" }) },
  {
    name: "a subject",
    filters: (n, rows) => ({ subject: `workflow_run/${1 + ((n * 7_919) % rows)}` }),
  },
  { name: "an idempotency key", filters: () => ({ idempotencyKey: "provider_0:none" }) },
  { name: "delivery=dead", filters: () => ({ delivery: "dead" }) },
  { name: "delivery=retrying (none)", filters: () => ({ delivery: "retrying" }) },
  { name: "delivery=delivered", filters: () => ({ delivery: "delivered" }) },
  { name: "delivery=none", filters: () => ({ delivery: "none" }) },
  {
    name: "delivery=dead and another provider",
    filters: () => ({ delivery: "dead", provider: "provider_1" }),
  },
  {
    name: "delivery=delivered and no event's provider",
    filters: () => ({ delivery: "delivered", provider: "none" }),
  },
  { name: "type=kind_1*", filters: () => ({ type: "kind_1*" }) },
  { name: "an hour in the middle", filters: (n, rows) => hourAt(n, rows) },
  {
    name: "an hour and a common word",
    filters: (n, rows) => ({ ...hourAt(n, rows), q: "deploy" }),
  },
];

function hourAt(n: number, rows: number): EventFilters {
  const fromMs = Date.UTC(2026, 0, 1) + ((n * 7_919) % rows) * stepMs;
  return { from: new Date(fromMs), to: new Date(fromMs + 3_600_000) };
}

async function measure(file: string, options: Options): Promise<string> {
  const rows = Math.min(options.rows, maxRows);
  console.log(`Filling ${rows.toLocaleString("en")} events`);
  fill(file, [{ table: "events", rows, stepMs }]);
  enrich(file);
  const storage = await openStorage(schema, `sqlite:${file}`);
  const indexSeconds = await indexAll(storage);
  console.log(`  indexed in ${indexSeconds.toFixed(1)} s`);
  const results = [];
  for (const each of cases) {
    const result = await timesOf(storage, each, rows, options);
    console.log(
      `  ${each.name}: p50 ${result.p50.toFixed(2)} ms, p99 ${result.p99.toFixed(2)} ms, ${result.found} found`,
    );
    results.push({ name: each.name, ...result });
  }
  await storage.close();
  return section(rows, indexSeconds, results);
}

/** Processor time of indexing one event, over all threads. */
export async function indexMicros(file: string, rows: number): Promise<number> {
  fill(file, [{ table: "events", rows, stepMs }]);
  enrich(file);
  const storage = await openStorage(schema, `sqlite:${file}`);
  const seconds = await indexAll(storage);
  await storage.close();
  return (seconds * 1e6) / rows;
}

/** Returns the processor time in seconds. */
async function indexAll(storage: Storage): Promise<number> {
  const before = process.cpuUsage();
  for (let done = batchSize; done === batchSize;) {
    const [result] = await storage.atomically(write(indexQueued, { limit: batchSize }));
    done = result.changes;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** Gives events words of different frequency, and notifications: one in a thousand is dead. */
function enrich(file: string): void {
  const database = new Database(file, { strict: true });
  database.run("pragma synchronous = off");
  database.run("begin");
  database.run(
    `insert into notifications (id, event_id, created_at, title, text, severity, status, attempt_count, delivered_at)
     select 'ntf_' || substr(id, 5), id, created_at, title, '', 'error', iif(abs(random()) % 1000 = 0, 'dead', 'delivered'), 1, created_at
     from events where substr(id, -2) <> '00'`,
  );
  database.run("drop trigger events_queued_again");
  database.run(
    "update events set title = title || ' word' || (abs(random()) % 9973) || ' word' || (abs(random()) % 9973)",
  );
  database.run("insert into search_queue (event_id) select id from events order by created_at, id");
  database.run("commit");
  database.close();
}

interface Result {
  readonly p50: number;
  readonly p99: number;
  readonly found: number;
}

async function timesOf(
  storage: Storage,
  { filters }: Case,
  rows: number,
  { rounds, seconds }: Options,
): Promise<Result> {
  const times: number[] = [];
  let found = 0;
  const until = performance.now() + rounds * seconds * 200;
  for (let n = 0; n < 10 || (performance.now() < until && n < 5_000); n += 1) {
    const start = performance.now();
    const request = { limit: 20, withTotal: false, direction: "forward", cursor: null } as const;
    const page = await paginate(await eventsMatching(storage, filters(n, rows)), request);
    // The first is the warm-up.
    if (n > 0) times.push(performance.now() - start);
    found = page.data.length;
  }
  times.sort((one, other) => one - other);
  const at = (share: number) => times[Math.floor((times.length - 1) * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99), found };
}

function section(
  rows: number,
  indexSeconds: number,
  results: readonly (Result & { readonly name: string })[],
): string {
  const p = (name: string, figure: "p50" | "p99") =>
    results.find((result) => result.name === name)?.[figure] ?? Number.NaN;
  return `First page of 20 of ${rows.toLocaleString("en")} events, read in this process from a database file; each has a notification and about 20
words, of which two are of 9,973. One in a thousand notifications is dead. The index was built from the queue in ${indexSeconds.toFixed(0)} s of processor time, ${((indexSeconds * 1e6) / rows).toFixed(0)} µs per event.

${environment([])}

${table(
  ["first page of", "p50 ms", "p99 ms", "÷ no filter", "on it"],
  results.map(({ name, p50, p99, found }) => [
    name,
    p50.toFixed(2),
    p99.toFixed(2),
    (p50 / p("no filter", "p50")).toFixed(1),
    String(found),
  ]),
)}
`;
}
