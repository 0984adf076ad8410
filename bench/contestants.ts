import { Database } from "bun:sqlite";
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";

import type { DeliveryPlan } from "./deliveries.ts";
import { withFolder } from "./folder.ts";
import type { LoadPlan, LoadResult } from "./load.ts";
import { type Core, runLoad, type Server, startServer } from "./processes.ts";
import { cells } from "./report.ts";
import { fill } from "./rows.ts";
import type { Options, Program } from "./suite.ts";

/** All contestants receive deliveries of one listed event. */
export const delivery: DeliveryPlan = {
  provider: "code_host",
  event: "workflow_run.completed",
  secret: "bench-secret-of-code-host",
};

/** A server under test. `folder` is empty, exclusive and temporary. */
export interface Contestant {
  readonly name: string;
  /** Requests to prepare per second of the run. More than the server can handle, so that they do not run out. */
  readonly requestsPerSecond: number;
  readonly start: (folder: string) => Promise<Server>;
  /** The database file in its folder; null if it stores nothing. */
  readonly database: string | null;
  /** Neither the server nor its load is pinned to a core. */
  readonly isFree?: boolean;
  /** The events that are in the database before the start. */
  readonly earlier?: number;
}

const here = (path: string): string => join(import.meta.dir, path);

export const ceiling: Contestant = {
  name: "bare Bun.serve, reads the body",
  requestsPerSecond: 20_000,
  start: () => startServer(["bun", here("servers/ceiling.ts")], {}),
  database: null,
};
export const skyhook: Contestant = {
  name: "skyhook serve",
  requestsPerSecond: 40_000,
  start: (folder) =>
    startServer(["bun", here("../src/main.ts"), "serve"], skyhookEnvironment(folder)),
  database: "skyhook.db",
};
/** Skyhook with events that were stored and indexed before. `folder` keeps a file of them for all rounds. */
export const skyhookWith = (earlier: number, folder: string): Contestant => ({
  ...skyhook,
  name: `skyhook serve, ${earlier.toLocaleString("en")} events before`,
  earlier,
  start(target) {
    const file = join(folder, `${earlier}.db`);
    if (!existsSync(file)) fillIndexed(file, earlier);
    copyFileSync(file, join(target, "skyhook.db"));
    const environment = { ...skyhookEnvironment(target), EVENT_RETENTION_DAYS: "3650" };
    return startServer(["bun", here("../src/main.ts"), "serve"], environment);
  },
});

function fillIndexed(file: string, events: number): void {
  fill(file, [{ table: "events", rows: events, stepMs: 1_000 }]);
  using database = new Database(file);
  database.run("update events set seq = rowid");
  database.run("update search_progress set seq = (select max(seq) from events)");
}

/** A version of Skyhook that may use all cores. */
export const skyhookOnAllCores = ({ name, folder: root }: Program): Contestant => ({
  ...skyhook,
  name: `${name} serve, not pinned`,
  start: (folder) =>
    startServer(
      ["bun", join(root, "src/main.ts"), "serve"],
      skyhookEnvironment(folder),
      undefined,
      null,
    ),
  isFree: true,
});
export const minimal: Contestant = {
  name: "minimal server, same guarantee",
  requestsPerSecond: 40_000,
  start: (folder) =>
    startServer(["bun", here("servers/promise.ts")], {
      DATABASE: join(folder, "promise.db"),
      SECRET: delivery.secret,
    }),
  database: "promise.db",
};
export const fastifySqlite: Contestant = {
  name: "fastify + better-sqlite3",
  requestsPerSecond: 10_000,
  start: (folder) =>
    startServer(["node", here("servers/fastify-sqlite.mjs")], {
      DATABASE: join(folder, "peer.db"),
      SECRET: delivery.secret,
    }),
  database: "peer.db",
};

export function skyhookEnvironment(folder: string): Record<string, string> {
  return {
    HOST: "127.0.0.1",
    DATA_DIR: folder,
    SECRETS_DIR: folder,
    LOG_LEVEL: "warn",
    WEBHOOK_PROVIDERS: delivery.provider,
    CODE_HOST_WEBHOOK_SECRET: delivery.secret,
  };
}

/** Starts a contestant, runs the load, stops it and checks that it stored all acknowledged deliveries. */
export function measure(contestant: Contestant, options: Options): Promise<LoadResult> {
  return withFolder("ingest", async (folder) => {
    const server = await contestant.start(folder);
    try {
      const result = await load(contestant, server, options);
      console.log(`  ${contestant.name}: ${cells.perSecond(result.requestsPerSecond)} requests/s`);
      await server.stop();
      const { database, earlier = 0 } = contestant;
      if (database !== null) checkStored(join(folder, database), result, earlier);
      return result;
    } finally {
      await server.stop();
    }
  });
}

function load(
  { name, requestsPerSecond, database, isFree }: Contestant,
  server: Server,
  { connections, seconds, warmUp }: Options,
): Promise<LoadResult> {
  const core: Core = isFree === true ? null : 1;
  const plan: LoadPlan = {
    send: { kind: "deliveries", ...delivery },
    port: server.port,
    serverPid: server.pid,
    connections,
    seconds,
    warmUp,
    requests: warmUp + requestsPerSecond * seconds,
    // Servers without a database do not detect duplicates, so requests can be repeated.
    repeats: database === null,
  };
  return runLoad(name, plan, core);
}

/** Each acknowledged delivery must have one event and one notification in the database. */
function checkStored(file: string, { acknowledged }: LoadResult, earlier: number): void {
  const database = new Database(file, { readonly: true });
  for (const [name, before] of [
    ["events", earlier],
    ["notifications", 0],
  ] as const) {
    const query = database.query<{ stored: number }, []>(`select count(*) as stored from ${name}`);
    const stored = (query.get()?.stored ?? Number.NaN) - before;
    if (stored !== acknowledged) {
      throw new Error(
        `${acknowledged} deliveries were acknowledged, but the database has ${stored} new ${name}`,
      );
    }
  }
  database.close();
}
