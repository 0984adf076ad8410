import { Database } from "bun:sqlite";
import { join } from "node:path";

import { encodeCursor } from "../src/base/cursor.ts";
import { openStorage } from "../src/db/open.ts";
import { eventPages } from "../src/events/event-search.sql.ts";
import { schema } from "../src/schema/schema.ts";

import { keepingAll, startSkyhook } from "./contestants.ts";
import { withFolder } from "./folder.ts";
import type { LoadResult } from "./load.ts";
import { median } from "./measure.ts";
import { runLoad, type Server } from "./processes.ts";
import { cells, table } from "./report.ts";
import { inTurns, loadColumns, loadRow, type Round } from "./rounds.ts";
import { type Cost, eventRow, fill, type Row } from "./rows.ts";
import type { Options, Report, Suite } from "./suite.ts";

/** K1: pages of a long list; and bookings and holds. */
export const rest: Suite = {
  name: "rest",
  about: "deep page ÷ first page (K1), bookings and holds",
  async run(options) {
    const deep = await withFolder("rest", (folder) => measureDepth(folder, options));
    const booked = await measureBookings(options);
    return report(options, deep, booked);
  },
};

/** The rows read for a page of 20: one more, to determine whether more follow. */
const rowsRead = 21;
/** Between two events. */
const stepMs = 1_000;
/** The depth of a "deep" page, as a ratio of the list length. */
const depth = 0.9;
/** The number of random positions, too many for the CPU caches. */
const positions = 400;
const spots = ["first", "deep", "anywhere"] as const;
/** The position of a page: the first page, a page far down the list, or changing random positions. */
type Spot = (typeof spots)[number];
type BySpot<Value> = Readonly<Record<Spot, Value>>;
type From = Row | null;

/** Microseconds per page, for each round. */
type Reading = BySpot<number[]>;

/** K1: a long list, read in this process and over HTTP. */
async function measureDepth(folder: string, options: Options) {
  const file = join(folder, "skyhook.db");
  const { rows } = options;
  console.log(`Filling ${rows.toLocaleString("en")} events`);
  const cost = fill(file, [{ table: "events", rows, stepMs }]);
  console.log(`  ${costText(cost)}`);
  const froms = fromsOf(rows);
  const reading = await read(file, froms, options);
  return { cost, reading, http: await pagesOverHttp(folder, froms, options) };
}

function fromsOf(rows: number): BySpot<From[]> {
  const row = (number: number) => eventRow(number, stepMs);
  const random = (): number => rowsRead + 1 + Math.floor(Math.random() * (rows - rowsRead));
  return {
    first: [null],
    deep: [row(Math.max(rowsRead + 1, Math.ceil(rows * (1 - depth))))],
    anywhere: Array.from({ length: positions }, () => row(random())),
  };
}

/** Reads pages of the list in this process, alternating between the positions. */
async function read(
  file: string,
  froms: BySpot<From[]>,
  { rounds, seconds }: Options,
): Promise<Reading> {
  const storage = await openStorage(schema, `sqlite:${file}`);
  const source = eventPages(storage, {});
  const pages = 50;

  async function microsOf(spot: Spot): Promise<number> {
    const start = performance.now();
    for (let page = 0; page < pages; page += 1) {
      const from = froms[spot][next++ % froms[spot].length] ?? null;
      const found = await source.read({ order: "newest-first", from, offset: 0, limit: rowsRead });
      if (found.length !== rowsRead) throw new Error("A page is not full");
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
    // Round 0 is the warm-up.
    if (round === 0) continue;
    for (const spot of spots) micros[spot].push(median(samples[spot]));
  }
  await storage.close();
  return micros;
}

async function pagesOverHttp(
  folder: string,
  froms: BySpot<From[]>,
  options: Options,
): Promise<BySpot<LoadResult[]>> {
  const results: BySpot<LoadResult[]> = { first: [], deep: [], anywhere: [] };
  const server = await startSkyhook(folder, keepingAll);
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

const loadOf = ({ connections, seconds, warmUp }: Options, { port, pid }: Server) => ({
  port,
  serverPid: pid,
  connections,
  seconds,
  warmUp,
});

type Seller = "bookings" | "holds";

/** The bookings are distributed over these flights and users. */
const flights = 1_000;
const users = 1_000;

/** Requests to prepare per second of the run. More than the server can handle, so that they do not run out. */
const requestsPerSecond = 20_000;

/** Bookings of one seat, and holds, alternating. */
function measureBookings(options: Options): Promise<Round<Seller>[]> {
  return inTurns(
    options.rounds,
    async () => ({
      bookings: await measureSeller("bookings", false, options),
      holds: await measureSeller("holds", true, options),
    }),
    "Bookings",
  );
}

function measureSeller(name: Seller, hold: boolean, options: Options): Promise<LoadResult> {
  return withFolder("rest", async (folder) => {
    const file = join(folder, "skyhook.db");
    fill(file, [{ table: "flights", rows: flights, stepMs: 0 }]);
    const server = await startSkyhook(folder, keepingAll);
    try {
      const result = await runLoad(name, {
        ...loadOf(options, server),
        send: { kind: "bookings", users, flights, hold },
        requests: options.warmUp + requestsPerSecond * options.seconds,
        repeats: false,
      });
      console.log(`  ${name}: ${cells.perSecond(result.requestsPerSecond)} per second`);
      await server.stop();
      checkStored(file, result);
      return result;
    } finally {
      await server.stop();
    }
  });
}

/** Each acknowledged booking must be stored and its seat sold. */
function checkStored(file: string, { acknowledged }: LoadResult): void {
  const database = new Database(file, { readonly: true });
  const counts = ["bookings", "passengers", "events", "notifications", "idempotency"].map(
    (name) => [name, `select count(*) as stored from ${name}`],
  );
  const seats = ["seats sold", "select sum(seats - seats_available) as stored from flights"];
  for (const [name, query] of [...counts, seats]) {
    const stored = database.query<{ stored: number }, []>(query ?? "").get()?.stored;
    if (stored !== acknowledged) {
      throw new Error(
        `${acknowledged} bookings were acknowledged, but the database has ${stored} ${name}`,
      );
    }
  }
  database.close();
}

const costText = ({ seconds, gigabytes }: Cost): string =>
  `built in ${cells.decimals(seconds, 0)} s, ${cells.decimals(gigabytes, 2)} GB`;

function report(
  options: Options,
  { cost, reading, http }: Awaited<ReturnType<typeof measureDepth>>,
  bookings: readonly Round<Seller>[],
): Report {
  const { connections, seconds, warmUp, rounds } = options;
  const sold = (seller: Seller) => bookings.map((round) => round[seller]);
  const micros = (results: readonly LoadResult[]) => results.map(({ cpuMicros }) => cpuMicros);
  const list = `${options.rows.toLocaleString("en")} events`;
  return {
    figures: {
      firstSql: reading.first,
      deepSql: reading.deep,
      firstPage: micros(http.first),
      deepPage: micros(http.deep),
      bookings: micros(sold("bookings")),
      holds: micros(sold("holds")),
    },
    notes: [`K1: ${list}, ${costText(cost)}`],
    text: [
      `${rounds} rounds of ${seconds} s, contestants alternate; medians. HTTP: ${connections} connections, one request in flight`,
      `on each, after ${warmUp.toLocaleString("en")} requests of warm-up. A page has 20 items. "deep" is one position ${depth * 100} % down the list, read`,
      `repeatedly, like the first page; "anywhere" is ${positions} random positions, which are less often in the CPU cache.`,
      "",
      table(
        ["µs per page, in-process", ...spots],
        [[list, ...spots.map((spot) => cells.decimals(median(reading[spot]), 1))]],
      ),
      "",
      table(
        ["over HTTP", ...loadColumns],
        [
          ...spots.map((spot) => loadRow(`page of events: ${spot}`, http[spot])),
          loadRow("booking", sold("bookings")),
          loadRow("hold", sold("holds")),
        ],
      ),
      "",
      `A booking has one seat, an access token (${users} users), an \`Idempotency-Key\`, an encrypted passenger, an event and a`,
      "notification. All are on disk with `synchronous=FULL` before the response, and are counted afterwards.",
    ],
  };
}
