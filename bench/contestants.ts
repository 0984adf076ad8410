import { Database } from "bun:sqlite";
import { join } from "node:path";

import { tokenSettings } from "./api-requests.ts";
import type { DeliveryPlan } from "./deliveries.ts";
import { withFolder } from "./folder.ts";
import type { LoadPlan, LoadResult } from "./load.ts";
import { runLoad, type Server, startServer } from "./processes.ts";
import { cells } from "./report.ts";
import { fill } from "./rows.ts";
import type { Options } from "./suite.ts";

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
  /** Events in the database before the run. */
  readonly events?: number;
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
  start: (folder) => startSkyhook(folder),
  database: "skyhook.db",
};
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
/** Skyhook with that many events before the run. They are old, and kept. */
export const filled = (events: number): Contestant => ({
  ...skyhook,
  name: `skyhook serve, with ${events.toLocaleString("en")} events`,
  start(folder) {
    fill(join(folder, "skyhook.db"), [{ table: "events", rows: events, stepMs: 1_000 }]);
    return startSkyhook(folder, keepingAll);
  },
  events,
});
/** U: the processor time, over all threads, of a webhook on the minimal server, in µs. */
export const leastMicros = async (options: Options): Promise<number> =>
  (await measure(minimal, options)).cpuMicros;

export const skyhookEnvironment = (folder: string): Readonly<Record<string, string>> => ({
  HOST: "127.0.0.1",
  DATA_DIR: folder,
  SECRETS_DIR: folder,
  LOG_LEVEL: "error",
  JWT_SECRET: tokenSettings.key,
  DESTINATIONS_ALLOW_PRIVATE: "true",
  WEBHOOK_PROVIDERS: delivery.provider,
  CODE_HOST_WEBHOOK_SECRET: delivery.secret,
});

/** Prevents the deletion of rows that `fill` made, which have old dates. */
export const keepingAll = { EVENT_RETENTION_DAYS: "36500", BODY_RETENTION_DAYS: "36500" };

export const startSkyhook = (
  folder: string,
  env: Readonly<Record<string, string>> = {},
  program = here("../src/main.ts"),
): Promise<Server> =>
  startServer(["bun", program, "serve"], { ...skyhookEnvironment(folder), ...env });

/** Starts a contestant, runs the load, stops it and checks that it stored all acknowledged deliveries. */
export function measure(contestant: Contestant, options: Options): Promise<LoadResult> {
  return withFolder("ingest", async (folder) => {
    const server = await contestant.start(folder);
    try {
      const result = await load(contestant, server, options);
      console.log(`  ${contestant.name}: ${cells.perSecond(result.requestsPerSecond)} requests/s`);
      await server.stop();
      const { database, events = 0 } = contestant;
      if (database !== null) checkStored(join(folder, database), events, result);
      return result;
    } finally {
      await server.stop();
    }
  });
}

function load(
  { name, requestsPerSecond, database }: Contestant,
  server: Server,
  { connections, seconds, warmUp }: Options,
): Promise<LoadResult> {
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
  return runLoad(name, plan);
}

/** Each acknowledged delivery must have one new event and one notification in the database. */
function checkStored(file: string, eventsBefore: number, { acknowledged }: LoadResult): void {
  using database = new Database(file, { readonly: true });
  for (const [name, before] of [
    ["events", eventsBefore],
    ["notifications", 0],
  ] as const) {
    const query = database.query<{ stored: number }, []>(`select count(*) as stored from ${name}`);
    const stored = (query.get()?.stored ?? 0) - before;
    if (stored === acknowledged) continue;
    throw new Error(
      `${acknowledged} deliveries were acknowledged, but the database has ${stored} ${name}`,
    );
  }
}
