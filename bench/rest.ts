import { Database } from "bun:sqlite";
import { join } from "node:path";

import { encodeCursor } from "../src/pagination/cursor.ts";
import type { ItemId } from "../src/pagination/page.ts";
import type { Source } from "../src/pagination/paginate.ts";
import { eventPages } from "../src/storage/events.ts";
import { flightPages } from "../src/storage/flights.ts";
import { openStorage, type Storage } from "../src/storage/storage.ts";

import { tokenSettings } from "./api-requests.ts";
import { withFolder } from "./folder.ts";
import type { LoadResult } from "./load.ts";
import { median } from "./measure.ts";
import { deepPagePlan } from "./plan.ts";
import { type PeerVersions, preparePeers } from "./peers.ts";
import { pinning, runLoad, type Server, startServer } from "./processes.ts";
import { cells, environment, type Goal, goalTable, table } from "./report.ts";
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

const pageSize = 20;
/** How deep "deep" is, as a share of the list. */
const depth = 0.9;
/** Places of random depth, so many that they do not all stay in the processor's caches. */
const places = 400;
/** Rows of one createdAt: more than an import makes in one millisecond. */
const tiedRows = 200_000;

/** Microseconds a page, one for each round. */
type Timings<Name extends string> = Readonly<Record<Name, readonly number[]>>;
type From<Id extends ItemId> = Row<Id> | null;

interface Depth {
  readonly cost: Cost;
  readonly plan: string;
  readonly inProcess: Timings<"first" | "deep" | "anywhere">;
  readonly http: Readonly<Record<"first" | "deep" | "anywhere", readonly LoadResult[]>>;
}

/** P6: one long list, read in this process and over HTTP. */
async function measureDepth(folder: string, options: Options): Promise<Depth> {
  const file = join(folder, "skyhook.db");
  const { rows } = options;
  console.log(`Filling ${rows.toLocaleString("en")} events…`);
  const cost = fill(file, [{ table: "events", rows, stepMs: 1_000 }]);
  console.log(`  ${costText(cost)}`);
  const events = filledEvents(rows, 1_000);
  const froms = {
    first: [null],
    deep: [events.row(Math.ceil(rows * (1 - depth)))],
    anywhere: Array.from({ length: places }, () => events.row(randomRow(rows))),
  };
  const plan = await planOf(file, eventPages, froms.deep[0] ?? events.row(rows));
  const inProcess = await withStorage(file, (storage) =>
    timePages(eventPages(storage, {}), froms, options),
  );
  const pathsOf = (list: readonly From<string>[]): string[] =>
    list.map((from) => `/v1/events${from === null ? "" : `?cursor=${encodeCursor(from)}`}`);
  const server = await startSkyhook(folder);
  try {
    const http: Depth["http"] = { first: [], deep: [], anywhere: [] };
    const results: Record<keyof Depth["http"], LoadResult[]> = { first: [], deep: [], anywhere: [] };
    for (let round = 1; round <= options.rounds; round += 1) {
      console.log(`Pages over HTTP, round ${round} of ${options.rounds}`);
      for (const name of ["first", "deep", "anywhere"] as const) {
        const paths = pathsOf(froms[name]);
        const result = await runLoad("skyhook serve", {
          ...loadOf(options, server),
          send: { kind: "pages", paths },
          requests: paths.length,
          repeats: true,
        });
        console.log(`  ${name}: ${cells.perSecond(result.requestsPerSecond)} pages/s`);
        results[name].push(result);
      }
    }
    return { cost, plan, inProcess, http: { ...http, ...results } };
  } finally {
    await server.stop();
  }
}
