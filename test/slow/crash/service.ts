import { join } from "node:path";

import { until } from "../../support/app.ts";
import { never, type TestGateway, testGateway } from "../../support/gateway.ts";
import { asOperator, startIn } from "../../support/load.ts";
import { itemsOf } from "../../support/operator.ts";
import {
  compiledProgram,
  removeFolder,
  type RunningServer,
  runSkyhook,
  type Surroundings,
  temporaryFolder,
} from "../../support/program.ts";

import { type CrashPoint, crashPointVariable, setCrashPoint } from "./crash-point.ts";
import type { CrashDatabase, CrashDatabases, Row } from "./databases.ts";
import { asAdminAt, Fleet } from "./fleet.ts";
import { wholeRows } from "./invariants.ts";
import type { Server } from "./requests.ts";

/** The exit code of a process killed by SIGKILL: 128 + 9. */
const killedCode = 137;
/** A margin for busy machines. */
const patienceMs = 60_000;
/** Fifty times as many deliveries. */
const fleetPatienceMs = 40_000;
/** The longest time until a dead process's lease on a notification expires. */
const leaseMs = 30_000;
const dayMs = 86_400_000;
/** Between two looks at what is undelivered. */
const pollMs = 50;

interface CrashOptions {
  readonly waitsForLeases?: boolean;
  readonly withFleet?: boolean;
}

/**
 * A service that is killed and started again: a database, an operator gateway, and a sequence of processes
 * between them.
 */
export class CrashService {
  readonly #folder: string;
  readonly #preload: string;
  readonly #database: CrashDatabase;
  readonly #gateway: TestGateway;
  readonly #waitsForLeases: boolean;
  #server: RunningServer | null = null;
  #hasStarted = false;
  #hold: PromiseWithResolvers<string> | null = null;
  readonly #held: string[] = [];

  /**
   * `seats` of each flight, at most 1,000; the ids are 1, 2 and so on. Without `waitsForLeases`, the leases
   * of a dead process are released at the next start. `withFleet`: fifty destinations besides the gateway.
   */
  static async open(
    databases: CrashDatabases,
    seats: readonly number[],
    { waitsForLeases = false, withFleet = false }: CrashOptions = {},
  ): Promise<CrashService> {
    const folder = temporaryFolder();
    const database = await databases.make(folder);
    if (seats.length > 0) await addFlights(folder, database.url, seats);
    const fleet = withFleet ? new Fleet() : null;
    return new CrashService(folder, databases.preload, database, waitsForLeases, fleet);
  }

  private constructor(
    folder: string,
    preload: string,
    database: CrashDatabase,
    waitsForLeases: boolean,
    readonly fleet: Fleet | null,
  ) {
    this.#waitsForLeases = waitsForLeases;
    this.#folder = folder;
    this.#preload = preload;
    this.#database = database;
    this.#gateway = testGateway((_, { headers }) => {
      if (this.#hold === null) return new Response();
      const id = headers["webhook-id"] ?? "";
      this.#held.push(id);
      this.#hold.resolve(id);
      this.#hold = null;
      return never();
    });
  }

  get #crashPointFile(): string {
    return join(this.#folder, "crash-point.json");
  }

  /** Returns the running process; starts one if there is none. */
  async running(): Promise<RunningServer> {
    if (this.#server !== null) return this.#server;
    setCrashPoint(this.#crashPointFile, null);
    const isFirstStart = !this.#hasStarted;
    if (!isFirstStart && !this.#waitsForLeases) await this.#database.endLeases();
    this.#hasStarted = true;
    const env = {
      DATABASE_URL: this.#database.url,
      ...this.#gateway.env,
      DESTINATIONS_ALLOW_PRIVATE: "true",
      [crashPointVariable]: this.#crashPointFile,
    };
    this.#server = await startIn(
      this.#folder,
      env,
      compiledProgram === null ? { preload: this.#preload } : {},
    );
    if (isFirstStart) await this.fleet?.create(asAdminAt(this.#server.url));
    return this.#server;
  }

  /** Sets the crash point of the process. */
  crashAt(point: CrashPoint): void {
    setCrashPoint(this.#crashPointFile, point);
  }

  /** Waits until the process has died at its crash point. Throws if it ends otherwise. */
  async crashed(): Promise<void> {
    const server = await this.running();
    const code = await Promise.race([server.exited, Bun.sleep(patienceMs)]);
    if (code !== killedCode) throw new Error(`The process was not killed: ${String(code)}`);
    this.#server = null;
  }

  /** Kills the process. */
  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    await server?.kill();
  }

  /** Reads rows while no process is running. Throws if the database is damaged. */
  left(sql: string): Promise<readonly Row[]> {
    if (this.#server !== null) throw new Error("A process has the database");
    return wholeRows(this.#database, sql);
  }

  /** Imports NDJSON, beside the running process if there is one, and returns what the import printed. */
  import(...lines: readonly string[]): Promise<string> {
    return importLines(this.#folder, this.#database.url, lines);
  }

  /** Makes the gateway ignore the next request. Resolves with its `webhook-id` when it arrives. */
  holdNextNotification(): Promise<string> {
    this.#hold = Promise.withResolvers();
    return this.#hold.promise;
  }

  /** The `webhook-id`s that the gateway did not answer. */
  get held(): readonly string[] {
    return this.#held;
  }

  /** The `webhook-id`s that the gateway received, in order, by the idempotency key of the event. */
  notified(): ReadonlyMap<string, readonly string[]> {
    return idsByKey(this.#gateway);
  }

  /** Waits until the gateway, and the fleet once healed, have accepted every notification. */
  async settled(): Promise<void> {
    if (this.fleet !== null) {
      // Without waiting for retries, and for circuits to close.
      await this.stop();
      await this.#database.endWaits();
      this.fleet.heal();
      await this.fleet.resume(asAdminAt((await this.running()).url));
    }
    const fleetMs = this.fleet === null ? 0 : fleetPatienceMs;
    const waitMs = patienceMs + fleetMs + (this.#waitsForLeases ? leaseMs : 0);
    await allDelivered(await this.running(), waitMs);
  }

  /** Stops the process with SIGTERM. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    const code = (await server?.stop()) ?? 0;
    if (code !== 0) throw new Error(`The process ended with ${code}: ${server?.log()}`);
  }

  async end(): Promise<void> {
    await this.kill();
    await this.#gateway.stop();
    await this.fleet?.stop();
    await this.#database.remove();
    removeFolder(this.#folder);
  }
}

/** Waits until every notification is delivered. */
export async function allDelivered(server: Server, timeoutMs: number): Promise<void> {
  const count = async (status: string) => {
    const page = await asOperator(server, `/v1/notifications?status=${status}`);
    const text = await page.text();
    // The load balancer or the database may not be ready.
    if (!page.ok) return 1;
    const { data }: { data: unknown } = JSON.parse(text);
    return itemsOf(data).length;
  };
  await until(async () => {
    const left = (await count("pending")) + (await count("retrying"));
    if (left > 0) await Bun.sleep(pollMs);
    return left === 0;
  }, timeoutMs);
}

/** The `webhook-id`s of a gateway's requests, in order, by the idempotency key of the event. */
export function idsByKey({ received }: TestGateway): ReadonlyMap<string, readonly string[]> {
  const ids = new Map<string, string[]>();
  for (const { headers, body } of received) {
    const { idempotencykey }: { idempotencykey: string } = JSON.parse(body);
    ids.getOrInsertComputed(idempotencykey, () => []).push(headers["webhook-id"] ?? "");
  }
  return ids;
}

/** Runs in a separate process, since an open connection would prevent recovery at the next start. */
export async function addFlights(
  folder: string,
  url: string,
  seats: readonly number[],
  how: Pick<Surroundings, "through" | "main"> = {},
): Promise<void> {
  const departureMs = Date.now() + 30 * dayMs;
  const time = (ms: number) => new Date(ms).toISOString();
  const lines = seats.map((count, index) =>
    JSON.stringify({
      flightNumber: `SK${index + 1}`,
      airline: "Skyhook Air",
      origin: "JFK",
      destination: "LHR",
      departureTime: time(departureMs),
      arrivalTime: time(departureMs + dayMs / 4),
      cabinClass: "economy",
      seats: count,
      price: 499.5,
      currency: "USD",
    }),
  );
  await importLines(folder, url, lines, how);
}

/** Runs `skyhook import` and returns its output. */
async function importLines(
  folder: string,
  url: string,
  lines: readonly string[],
  how: Pick<Surroundings, "through" | "main"> = {},
): Promise<string> {
  const env = { DATABASE_URL: url, DATA_DIR: join(folder, "data") };
  const surroundings = { cwd: folder, env, input: lines.join("\n"), ...how };
  const { code, out, err } = await runSkyhook(["import", "-", "--format", "ndjson"], surroundings);
  if (code !== 0) throw new Error(`The flights were not imported: ${err}`);
  return out;
}
