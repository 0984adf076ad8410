import { join } from "node:path";

import { testSecret } from "../../support/app.ts";
import { never, type TestGateway, testGateway } from "../../support/gateway.ts";
import { type LoadBalancer, loadBalancer } from "../../support/load-balancer.ts";
import { startIn } from "../../support/load.ts";
import {
  compiledProgram,
  removeFolder,
  type RunningServer,
  runSkyhook,
  temporaryFolder,
} from "../../support/program.ts";

import { allDelivered, type Server } from "./clients.ts";
import { type CrashPoint, crashPointVariable, setCrashPoint } from "./crash-point.ts";
import type { DatabaseKind, Row, TestedDatabase } from "./databases.ts";
import { asAdminAt, Fleet } from "./fleet.ts";
import { flightLines } from "./flights.ts";
import { wholeRows } from "./invariants.ts";
import { providers } from "./signed-deliveries.ts";

/** The exit code of a process killed by SIGKILL: 128 + 9. */
const killedCode = 137;
/** A margin for busy machines, and for fifty times as many deliveries. */
const patienceMs = 60_000;
const fleetPatienceMs = 40_000;
/** The longest time until others notice that a dead process's lease on a notification has expired. */
const leaseMs = 60_000;
/** How long another instance may take to learn of a destination (docs/destinations.md), and a little more. */
const learningMs = 2_500;

const endOfLeases = "update deliveries set leased_until = 0 where leased_until is not null";
/** Make all retries due and close all circuits. */
const endsOfWaits = [
  "update deliveries set due_at = notification / 1024 where due_at is not null",
  "update destinations set failures = 0, open_until = null",
];

export interface WorldOptions {
  /** Of each flight; the ids are 1, 2 and so on. */
  readonly seats?: readonly number[];
  readonly instances?: number;
  /** Whether clients use the load balancer of deploy/. */
  readonly isBalanced?: boolean;
  /** Whether the processes die at crash points. */
  readonly dies?: boolean;
  /** Whether to wait for the leases of dead processes. Otherwise the next start releases them. */
  readonly waitsForLeases?: boolean;
  /** Whether there are fifty destinations besides the operator gateway. */
  readonly withFleet?: boolean;
  /** The `main.ts` of another program than ours. */
  readonly main?: string;
  /** Where the program's files are; by default a new folder, which is removed at the end. */
  readonly folder?: string;
  /** The prefix of each command, such as strace. */
  readonly through?: () => readonly string[];
}

/**
 * The program on a database, in one process or several, with an operator gateway. Processes are stopped, killed and
 * started again.
 */
export class World {
  readonly folder: string;
  readonly fleet: Fleet | null;
  readonly #kind: DatabaseKind;
  readonly #options: WorldOptions;
  readonly #gateway: TestGateway;
  readonly #database: TestedDatabase;
  /** Null while an instance is down. */
  readonly #servers: (RunningServer | null)[];
  readonly #ports: string[] = [];
  #balancer: LoadBalancer | null = null;
  #hasStarted = false;
  #hold: PromiseWithResolvers<string> | null = null;
  readonly #held: string[] = [];

  static async open(kind: DatabaseKind, options: WorldOptions = {}): Promise<World> {
    const folder = options.folder ?? temporaryFolder();
    const world = new World(kind, await kind.make(folder), folder, options);
    try {
      if (options.seats !== undefined) await world.import(...flightLines(options.seats));
      return world;
    } catch (error) {
      await world.end();
      throw error;
    }
  }

  private constructor(
    kind: DatabaseKind,
    database: TestedDatabase,
    folder: string,
    options: WorldOptions,
  ) {
    this.#kind = kind;
    this.#options = options;
    this.#database = database;
    this.folder = folder;
    this.fleet = options.withFleet === true ? new Fleet() : null;
    this.#servers = Array.from({ length: options.instances ?? 1 }, () => null);
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
    return join(this.folder, "crash-point.json");
  }

  /** The instances that are up, with their numbers from 0. */
  get instances(): readonly { readonly number: number; readonly url: string }[] {
    return this.#servers.flatMap((server, number) =>
      server === null ? [] : [{ number, url: server.url }],
    );
  }

  /** Starts what is down. Returns where clients send requests: the load balancer, or the first instance. */
  async running(): Promise<Server> {
    for (const number of this.#servers.keys()) await this.start(number);
    const [one, two] = this.#servers;
    if (one === null || one === undefined) throw new Error("Nothing runs");
    if (this.#options.isBalanced === true && two !== null && two !== undefined)
      this.#balancer ??= await loadBalancer(one, two);
    const server = this.#balancer ?? one;
    if (!this.#hasStarted && this.fleet !== null) {
      await this.fleet.create(asAdminAt(server.url));
      if (this.#servers.length > 1) await Bun.sleep(learningMs);
    }
    this.#hasStarted = true;
    return server;
  }

  /** Starts an instance, unless it runs. */
  async start(number = 0): Promise<RunningServer> {
    const known = this.#servers[number] ?? null;
    if (known !== null) return known;
    const { dies, main, isBalanced, through, waitsForLeases } = this.#options;
    setCrashPoint(this.#crashPointFile, null);
    const areLeasesDead = this.#hasStarted && this.#kind.isServer && this.instances.length === 0;
    if (areLeasesDead && waitsForLeases !== true)
      await this.#database.left(() => this.#database.run(endOfLeases));
    const secrets = providers.map((id) => [`${id.toUpperCase()}_WEBHOOK_SECRET`, testSecret(id)]);
    const env = {
      ...Object.fromEntries(secrets),
      ...this.#gateway.env,
      DATABASE_URL: this.#database.url,
      DESTINATIONS_ALLOW_PRIVATE: "true",
      TRUSTED_PROXY_HOPS: "1",
      [crashPointVariable]: this.#crashPointFile,
    };
    const server = await startIn(this.folder, env, {
      // The load balancer knows the port.
      ...(isBalanced === true && { port: this.#ports[number] ?? "0" }),
      ...(dies === true && compiledProgram === null && { preload: this.#kind.preload }),
      ...(main !== undefined && { main }),
      ...(through !== undefined && { through: through() }),
    });
    this.#ports[number] = server.env.PORT;
    this.#servers[number] = server;
    return server;
  }

  /** Sets the crash point of the process. */
  crashAt(point: CrashPoint): void {
    setCrashPoint(this.#crashPointFile, point);
  }

  /** Waits until the process has died at its crash point. Throws if it ends otherwise. */
  async crashed(): Promise<void> {
    const server = await this.start();
    const code = await Promise.race([server.exited, Bun.sleep(patienceMs)]);
    if (code !== killedCode) throw new Error(`The process was not killed: ${String(code)}`);
    this.#servers[0] = null;
  }

  /** Kills an instance with SIGKILL. */
  async kill(number = 0): Promise<void> {
    const server = this.#servers[number];
    this.#servers[number] = null;
    await server?.kill();
  }

  /** Stops one instance or all with SIGTERM. */
  async stop(only?: number): Promise<void> {
    for (const [number, server] of this.#servers.entries()) {
      if (server === null || (only !== undefined && only !== number)) continue;
      this.#servers[number] = null;
      const code = await server.stop();
      if (code !== 0) throw new Error(`Instance ${number} ended with ${code}: ${server.log()}`);
    }
  }

  /** Breaks all connections to the database; null for a file. */
  get cutConnections(): (() => Promise<void>) | null {
    return this.#database.cutConnections;
  }

  /** Reads rows while nothing runs. Throws if the database is damaged. */
  left(sql: string): Promise<readonly Row[]> {
    if (this.instances.length > 0) throw new Error("A process has the database");
    return wholeRows(this.#database, sql);
  }

  /** Runs a command of the program, and returns what it printed. */
  async command(args: readonly string[], input?: string): Promise<string> {
    const { through, main } = this.#options;
    const { code, out, err } = await runSkyhook(args, {
      cwd: this.folder,
      env: { DATABASE_URL: this.#database.url, DATA_DIR: join(this.folder, "data") },
      ...(input !== undefined && { input }),
      ...(through !== undefined && { through: through() }),
      ...(main !== undefined && { main }),
    });
    if (code !== 0) throw new Error(`skyhook ${args.join(" ")} failed: ${err}`);
    return out;
  }

  /** Imports NDJSON, beside the running process if there is one, and returns what the import printed. */
  import(...lines: readonly string[]): Promise<string> {
    return this.command(["import", "-", "--format", "ndjson"], lines.join("\n"));
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
    const ids = new Map<string, string[]>();
    for (const { headers, body } of this.#gateway.received) {
      const { idempotencykey }: { idempotencykey: string } = JSON.parse(body);
      ids.getOrInsertComputed(idempotencykey, () => []).push(headers["webhook-id"] ?? "");
    }
    return ids;
  }

  /** Waits until the gateway, and the fleet once healed, have accepted every notification. */
  async settled(): Promise<void> {
    const { fleet } = this;
    if (fleet !== null) {
      // Without waiting for retries, and for circuits to close.
      await this.stop();
      for (const sql of endsOfWaits) await this.#database.run(sql);
      fleet.heal();
      await fleet.resume(asAdminAt((await this.running()).url));
    } else if (this.#servers.length > 1 && this.#options.waitsForLeases !== true) await this.stop();
    const fleetMs = fleet === null ? 0 : fleetPatienceMs;
    const waitMs = this.#options.waitsForLeases === true ? leaseMs : 0;
    await allDelivered(await this.running(), patienceMs + fleetMs + waitMs);
  }

  /** What the running instances have logged as errors. */
  errors(): readonly string[] {
    const lines = this.#servers.flatMap((server) => server?.log().split("\n") ?? []);
    return lines.filter((line) => line.startsWith(`{"level":50`));
  }

  async end(): Promise<void> {
    for (const number of this.#servers.keys()) await this.kill(number);
    await this.#balancer?.stop();
    await this.#gateway.stop();
    await this.fleet?.stop();
    await this.#database.remove();
    if (this.#options.folder === undefined) removeFolder(this.folder);
  }
}
