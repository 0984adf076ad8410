import { join } from "node:path";

import { testSecret } from "../../support/app.ts";
import { noManyConnections, postgresDatabase } from "../../support/databases.ts";
import { startIn } from "../../support/load.ts";
import { removeFolder, type RunningServer, temporaryFolder } from "../../support/program.ts";
import { skips } from "../../support/skips.ts";
import { addFlights } from "../crash/service.ts";
import { providers } from "../model/deliveries.ts";

/** What a history is recorded on. */
export interface Setup {
  readonly database: "SQLite" | "PostgreSQL";
  readonly instances: 1 | 2;
}

/** All that can run on this machine. */
export const setups = (): readonly Setup[] => [
  { database: "SQLite", instances: 1 },
  ...(skips(noManyConnections)
    ? []
    : ([1, 2] as const).map((instances) => ({ database: "PostgreSQL" as const, instances }))),
];

export const nameOf = ({ database, instances }: Setup): string =>
  instances === 1 ? database : `${database}, ${instances} instances`;

interface Database {
  readonly url: string;
  /** Breaks all connections to the server; null for a file. */
  readonly cutConnections: (() => Promise<void>) | null;
  remove(): Promise<void>;
}

/** A running instance. */
export interface Instance {
  /** From 1. */
  readonly number: number;
  readonly url: string;
}

/** Instances of the program on one database. They can be killed and started again. */
export class Cluster {
  readonly #folder: string;
  readonly #database: Database;
  readonly #main: string | undefined;
  /** Null while an instance is down. */
  readonly #servers: (RunningServer | null)[];
  #changed = Promise.withResolvers<void>();

  /** `seats` of each flight; the ids are 1, 2 and so on. `main`: another program than ours. */
  static async open(setup: Setup, seats: readonly number[], main?: string): Promise<Cluster> {
    const folder = temporaryFolder();
    const database = setup.database === "SQLite" ? fileIn(folder) : await onServer();
    const cluster = new Cluster(folder, database, setup.instances, main);
    try {
      await addFlights(folder, database.url, seats, main === undefined ? {} : { main });
      for (let number = 1; number <= setup.instances; number += 1) await cluster.#start(number);
      return cluster;
    } catch (error) {
      await cluster.end();
      throw error;
    }
  }

  private constructor(
    folder: string,
    database: Database,
    instances: number,
    main: string | undefined,
  ) {
    this.#folder = folder;
    this.#database = database;
    this.#main = main;
    this.#servers = Array.from({ length: instances }, () => null);
  }

  async #start(number: number): Promise<void> {
    const secrets = providers.map((id) => [`${id.toUpperCase()}_WEBHOOK_SECRET`, testSecret(id)]);
    const env = {
      DATABASE_URL: this.#database.url,
      TRUSTED_PROXY_HOPS: "1",
      ...Object.fromEntries(secrets),
    };
    const main = this.#main === undefined ? {} : { main: this.#main };
    try {
      this.#servers[number - 1] = await startIn(this.#folder, env, main);
      this.#changed.resolve();
      this.#changed = Promise.withResolvers();
    } catch (error) {
      // Nobody may be waiting.
      this.#changed.promise.catch(() => {});
      this.#changed.reject(error);
      throw error;
    }
  }

  get instances(): readonly Instance[] {
    return this.#servers.flatMap((server, index) =>
      server === null ? [] : [{ number: index + 1, url: server.url }],
    );
  }

  /** Waits until an instance is running, and returns one of those that are. */
  async running(random: () => number): Promise<Instance> {
    for (;;) {
      const { instances } = this;
      const instance = instances[Math.floor(random() * instances.length)];
      if (instance !== undefined) return instance;
      await this.#changed.promise;
    }
  }

  /** Kills an instance with SIGKILL and starts it again. */
  async kill(number: number): Promise<void> {
    const server = this.#servers[number - 1];
    this.#servers[number - 1] = null;
    await server?.kill();
    await this.#start(number);
  }

  /** Stops an instance with SIGTERM and starts it again. */
  async restart(number: number): Promise<void> {
    const server = this.#servers[number - 1];
    const code = await server?.stop();
    this.#servers[number - 1] = null;
    if (code !== 0) throw new Error(`Instance ${number} ended with ${code}: ${server?.log()}`);
    await this.#start(number);
  }

  /** Null for a database without connections. */
  get cutConnections(): (() => Promise<void>) | null {
    return this.#database.cutConnections;
  }

  /** Stops all instances and returns what they logged as errors. */
  async errors(): Promise<readonly string[]> {
    for (const server of this.#servers) await server?.stop();
    const lines = this.#servers.flatMap((server) => server?.log().split("\n") ?? []);
    return lines.filter((line) => line.startsWith(`{"level":50`));
  }

  async end(): Promise<void> {
    for (const server of this.#servers) await server?.kill();
    await this.#database.remove();
    removeFolder(this.#folder);
  }
}

const fileIn = (folder: string): Database => ({
  url: `sqlite:${join(folder, "skyhook.db")}`,
  cutConnections: null,
  remove: async () => {},
});

async function onServer(): Promise<Database> {
  const database = await postgresDatabase();
  return {
    url: database.url,
    async cutConnections() {
      await database.run(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where application_name = current_setting('application_name') and pid <> pg_backend_pid()`,
      );
    },
    remove: async () => database[Symbol.asyncDispose](),
  };
}
