import { Database } from "bun:sqlite";
import { join } from "node:path";

import { encodeCursor } from "../src/base/cursor.ts";
import type { ItemId } from "../src/base/page.ts";
import type { Source } from "../src/db/paginate.ts";
import { eventPages } from "../src/gateway/events/events.sql.ts";
import { flightPages } from "../src/booking/flights/flights.sql.ts";
import { openStorage } from "../src/db/open.ts";
import { schema } from "../src/schema/schema.ts";
import type { Storage } from "../src/db/storage.ts";

import { tokenSettings } from "./api-requests.ts";
import { withFolder } from "./folder.ts";
import type { LoadResult } from "./load.ts";
import { median } from "./measure.ts";
import { deepPagePlan } from "./plan.ts";
import { type PeerVersions, preparePeers } from "./peers.ts";
import { pinning, runLoad, type Server, startServer } from "./processes.ts";
import { cells, environment, type Goal, goalTable, table } from "./report.ts";
import { inTurns, loadColumns, loadRow, ratiosOf, type Round } from "./rounds.ts";
import { type Cost, fill, type Filled, filledEvents, filledFlights, type Row } from "./rows.ts";
import type { Options, Suite } from "./suite.ts";

/** P6, P7 and P10: pages of long lists, and bookings. */
export const rest: Suite = {
  name: "rest",
  about: "deep page ÷ first page (P6, P7), bookings ÷ fastify + better-sqlite3 (P10)",
  async run(options) {
    const versions = await preparePeers();
    const deep = await withFolder("rest", (folder) => measureDepth(folder, options));
    const ties = await withFolder("rest", (folder) => measureTies(folder, options));
    const booked = await measureBookings(options);
    return section(options, versions, deep, ties, booked);
  },
};

/** One row more than a page shows is read, to know whether more follow. */
const rowsRead = 21;
/** How deep "deep" is, as a share of the list. */
const depth = 0.9;
/** Places of random depth: so many that they do not all stay in the processor's caches. */
const places = 400;
/** Rows of one createdAt: more than an import makes in one millisecond. */
const mostTiedRows = 200_000;

const spots = ["first", "deep", "anywhere"] as const;
/** Where a page is: the first, one far down the list, or at random depths, another one each time. */
type Spot = (typeof spots)[number];
type BySpot<Value> = Readonly<Record<Spot, Value>>;
type From<Id extends ItemId> = Row<Id> | null;
type List<Id extends ItemId> = (
  storage: Storage,
  filters: Record<never, never>,
) => Source<Row<Id>, Id>;

/** What reading one list in this process came to. */
interface Reading {
  readonly name: string;
  /** SQLite's own words. */
  readonly plan: string;
  /** Microseconds a page, one for each round. */
  readonly micros: BySpot<number[]>;
}

const here = (path: string): string => join(import.meta.dir, path);

/** P6: one long list, read in this process and over HTTP. */
async function measureDepth(folder: string, options: Options) {
  const file = join(folder, "skyhook.db");
  const { rows } = options;
  console.log(`Filling ${rows.toLocaleString("en")} events`);
  const cost = fill(file, [{ table: "events", rows, stepMs: 1_000 }]);
  console.log(`  ${costText(cost)}`);
  const froms = fromsOf(filledEvents(rows, 1_000));
  const reading = await read("events", file, eventPages, froms, options);
  return { cost, reading, http: await pagesOverHttp(folder, froms, options) };
}

/** P7: lists whose rows all have the same createdAt, so that the id alone tells them apart. */
async function measureTies(folder: string, options: Options): Promise<readonly Reading[]> {
  const file = join(folder, "skyhook.db");
  const rows = tiedRowsOf(options);
  fill(file, [
    { table: "events", rows, stepMs: 0 },
    { table: "flights", rows, stepMs: 0 },
  ]);
  return [
    await read("events", file, eventPages, fromsOf(filledEvents(rows, 0)), options),
    await read("flights", file, flightPages, fromsOf(filledFlights(rows, 0)), options),
  ];
}

const tiedRowsOf = ({ rows }: Options): number => Math.min(rows, mostTiedRows);

function fromsOf<Id extends ItemId>({ rows, row }: Filled<Id>): BySpot<From<Id>[]> {
  const random = (): number => rowsRead + 1 + Math.floor(Math.random() * (rows - rowsRead));
  return {
    first: [null],
    deep: [row(Math.max(rowsRead + 1, Math.ceil(rows * (1 - depth))))],
    anywhere: Array.from({ length: places }, () => row(random())),
  };
}

/** Reads pages of one list in this process, those of the three kinds in turn. */
async function read<Id extends ItemId>(
  name: string,
  file: string,
  list: List<Id>,
  froms: BySpot<From<Id>[]>,
  { rounds, seconds }: Options,
): Promise<Reading> {
  const storage = await openStorage(schema, `sqlite:${file}`);
  const source = list(storage, {});
  const pages = 50;

  async function microsOf(spot: Spot): Promise<number> {
    const start = performance.now();
    for (let page = 0; page < pages; page += 1) {
      const from = froms[spot][next++ % froms[spot].length] ?? null;
      const found = await source.read({ order: "newest-first", from, offset: 0, limit: rowsRead });
      if (found.length !== rowsRead) throw new Error(`A page of ${name} is not full`);
    }
    return ((performance.now() - start) * 1_000) / pages;
  }

  let next = 0;
  const micros: BySpot<number[]> = { first: [], deep: [], anywhere: [] };
  for (let round = 0; round <= rounds; round += 1) {
    const samples: BySpot<number[]> = { first: [], deep: [], anywhere: [] };
    const end = performance.now() + seconds * 1_000;
    while (performance.now() < end) {
      for (const spot of spots) samples[spot].push(await microsOf(spot));
    }
    // The round before the first warms up.
    if (round === 0) continue;
    for (const spot of spots) micros[spot].push(median(samples[spot]));
  }
  await storage.close();
  return { name, plan: await planOf(file, list, froms.deep[0] ?? null), micros };
}

async function planOf<Id extends ItemId>(
  file: string,
  list: List<Id>,
  from: From<Id>,
): Promise<string> {
  const database = new Database(file);
  const plan = await deepPagePlan(database, list, from);
  database.close();
  if (plan.includes("(created_at,id)<(?,?)")) return plan;
  throw new Error(`A deep page is not sought by both columns: ${plan}`);
}

async function pagesOverHttp(
  folder: string,
  froms: BySpot<From<string>[]>,
  options: Options,
): Promise<BySpot<LoadResult[]>> {
  const results: BySpot<LoadResult[]> = { first: [], deep: [], anywhere: [] };
  const server = await startSkyhook(folder);
  try {
    await inTurns(
      options.rounds,
      async () => {
        for (const spot of spots) {
          const paths = froms[spot].map(
            (from) => `/v1/events${from === null ? "" : `?cursor=${encodeCursor(from)}`}`,
          );
          const result = await runLoad("skyhook serve", {
            ...loadOf(options, server),
            send: { kind: "pages", paths },
            requests: paths.length,
            repeats: true,
          });
          console.log(`  ${spot}: ${cells.perSecond(result.requestsPerSecond)} pages/s`);
          results[spot].push(result);
        }
      },
      "Pages over HTTP",
    );
  } finally {
    await server.stop();
  }
  return results;
}

const loadOf = ({ connections, seconds, warmUpSeconds }: Options, { port, pid }: Server) => ({
  port,
  serverPid: pid,
  connections,
  seconds,
  warmUpSeconds,
});

const startSkyhook = (folder: string): Promise<Server> =>
  startServer(["bun", here("../src/main.ts"), "serve"], {
    HOST: "127.0.0.1",
    DATA_DIR: folder,
    SECRETS_DIR: folder,
    LOG_LEVEL: "error",
    // The rows are dated by hand: none of them is to be past its time.
    EVENT_RETENTION_DAYS: "36500",
    BODY_RETENTION_DAYS: "36500",
    JWT_SECRET: tokenSettings.key,
  });

const startPeer = (folder: string): Promise<Server> =>
  startServer(["node", here("servers/fastify-bookings.mjs")], {
    DATABASE: join(folder, "skyhook.db"),
    JWT_SECRET: tokenSettings.key,
    JWT_ISSUER: tokenSettings.issuer,
    JWT_AUDIENCE: tokenSettings.audience,
  });

type Seller = "skyhook" | "peer";

/** Flights and users that the bookings are spread over. */
const flights = 1_000;
const users = 1_000;

/** P10: bookings of one seat by both servers, in turn. */
function measureBookings(options: Options): Promise<Round<Seller>[]> {
  return inTurns(
    options.rounds,
    async () => ({
      skyhook: await measureSeller("skyhook serve", startSkyhook, 20_000, options),
      peer: await measureSeller("fastify + better-sqlite3", startPeer, 6_000, options),
    }),
    "Bookings",
  );
}

function measureSeller(
  name: string,
  start: (folder: string) => Promise<Server>,
  /** More than it can answer in a second, so that they do not run out. */
  requestsPerSecond: number,
  options: Options,
): Promise<LoadResult> {
  return withFolder("rest", async (folder) => {
    const file = join(folder, "skyhook.db");
    fill(file, [{ table: "flights", rows: flights, stepMs: 0 }]);
    const server = await start(folder);
    try {
      const result = await runLoad(name, {
        ...loadOf(options, server),
        send: { kind: "bookings", users, flights },
        requests: requestsPerSecond * (options.warmUpSeconds + options.seconds),
        repeats: false,
      });
      console.log(`  ${name}: ${cells.perSecond(result.requestsPerSecond)} bookings/s`);
      await server.stop();
      checkStored(file, result);
      return result;
    } finally {
      await server.stop();
    }
  });
}

/** What was acknowledged must be there, and its seat sold. */
function checkStored(file: string, { acknowledged }: LoadResult): void {
  const database = new Database(file, { readonly: true });
  const counts = ["bookings", "passengers", "events", "notifications", "idempotency"].map(
    (name) => [name, `select count(*) as stored from ${name}`],
  );
  const seats = ["seats sold", "select sum(seats - seats_available) as stored from flights"];
  for (const [name, query] of [...counts, seats]) {
    const stored = database.query<{ stored: number }, []>(query ?? "").get()?.stored;
    if (stored !== acknowledged) {
      throw new Error(`${acknowledged} bookings were acknowledged, but ${stored} ${name} stored`);
    }
  }
  database.close();
}

const costText = ({ seconds, gigabytes }: Cost): string =>
  `built in ${cells.decimals(seconds, 0)} s, ${cells.decimals(gigabytes, 2)} GB`;

function section(
  options: Options,
  versions: PeerVersions,
  { cost, reading, http }: Awaited<ReturnType<typeof measureDepth>>,
  ties: readonly Reading[],
  bookings: readonly Round<Seller>[],
): string {
  const { connections, seconds, warmUpSeconds, rounds } = options;
  const tied = tiedRowsOf(options).toLocaleString("en");
  const sold = (seller: Seller) => bookings.map((round) => round[seller]);
  const readingRow = (name: string, { micros }: Reading): string[] => [
    name,
    ...spots.map((spot) => cells.decimals(median(micros[spot]), 1)),
  ];
  const figures = (spot: Spot, figure: keyof LoadResult): number[] =>
    http[spot].map((result) => result[figure]);
  const depthGoals = (
    goal: string,
    spot: "deep" | "anywhere",
    targets: { readonly sql: Pick<Goal, "target">; readonly http: Pick<Goal, "target"> },
  ): Goal[] => [
    {
      goal: `P6 ${goal} ÷ first page, SQL in-process`,
      ratios: quotients(reading.micros[spot], reading.micros.first),
      ...targets.sql,
      better: "lower",
    },
    {
      goal: `P6 ${goal} ÷ first page, HTTP, CPU time`,
      ratios: quotients(figures(spot, "cpuMicros"), figures("first", "cpuMicros")),
      ...targets.http,
      better: "lower",
    },
    {
      goal: `P6 ${goal} ÷ first page, HTTP, requests/s inverted`,
      ratios: quotients(figures("first", "requestsPerSecond"), figures(spot, "requestsPerSecond")),
      ...targets.http,
      better: "lower",
    },
  ];
  return [
    `${rounds} rounds of ${seconds} s, contestants in turn; medians. HTTP: ${connections} connections, one request in flight`,
    `on each, after ${warmUpSeconds} s of warm-up. A page has 20 items. "deep" is one place ${depth * 100} % down the list, read again`,
    `and again as the first page is; "anywhere" is ${places} places of random depth, so memory is less often in cache.`,
    "",
    environment([
      pinning,
      `fastify ${versions.fastify}, @fastify/jwt ${versions.fastifyJwt}, better-sqlite3 ${versions.betterSqlite3} (SQLite ${versions.sqlite}) on Node ${versions.node}`,
      `P6: ${options.rows.toLocaleString("en")} events, ${costText(cost)}; \`${reading.plan}\``,
      ...ties.map(({ name, plan }) => `P7: ${tied} ${name} of one createdAt; \`${plan}\``),
    ]),
    "",
    table(
      ["µs a page, in-process", ...spots],
      [
        readingRow(`${options.rows.toLocaleString("en")} events`, reading),
        ...ties.map((tie) => readingRow(`${tied} ${tie.name} of one createdAt`, tie)),
      ],
    ),
    "",
    table(
      ["over HTTP", ...loadColumns],
      [
        ...spots.map((spot) => loadRow(`page of events: ${spot}`, http[spot])),
        loadRow("booking: skyhook serve", sold("skyhook")),
        loadRow("booking: fastify + better-sqlite3", sold("peer")),
      ],
    ),
    "",
    `A booking is of one seat, with an access token (${users} users), an \`Idempotency-Key\`, a sealed passenger, an event and a`,
    "notification, on disk under `synchronous=FULL` before it is answered; all are counted afterwards.",
    "",
    goalTable([
      ...depthGoals("deep page", "deep", { sql: { target: 1.15 }, http: { target: 1.1 } }),
      ...depthGoals("random depths", "anywhere", { sql: {}, http: {} }),
      ...ties.map(({ name, micros }): Goal => ({
        goal: `P7 deep page of ${name} ÷ first page`,
        ratios: quotients(micros.deep, micros.first),
        target: 1.2,
        better: "lower",
      })),
      {
        goal: "P10 skyhook ÷ fastify + better-sqlite3, requests/s",
        ratios: ratiosOf(bookings)("requestsPerSecond", "skyhook", "peer"),
        target: 5,
        better: "higher",
      },
      {
        goal: "P10 by CPU time: fastify + better-sqlite3 ÷ skyhook",
        ratios: ratiosOf(bookings)("cpuMicros", "peer", "skyhook"),
        better: "higher",
      },
    ]),
  ].join("\n");
}

/** Of each round. */
function quotients(ones: readonly number[], others: readonly number[]): number[] {
  return ones.map((one, round) => one / (others[round] ?? Number.NaN));
}
