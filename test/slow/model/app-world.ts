import { mkdirSync } from "node:fs";
import { dirname } from "node:path";

import { endOutdatedOffers } from "../../../src/booking/changes/ended-offers.ts";
import { readFlightPlans } from "../../../src/booking/flights/import/flight-plans.ts";
import { importFlights } from "../../../src/booking/flights/import/import-flights.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";
import { databaseIn } from "../../support/load.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";
import type { DatabaseKind, TestedDatabase } from "../harness/databases.ts";
import type { Send } from "../harness/requests.ts";

export type Role = "user" | "operator" | "admin";

/** The service in this process, in one instance or several on one database, with a clock that the test moves. */
export class AppWorld {
  readonly clock = manualClock();
  readonly #apps: TestApp[] = [];

  constructor(
    readonly database: TestedDatabase,
    readonly folder: string,
    readonly instances: number,
    /** Counts of each outcome, for the summary. */
    readonly tally: Map<string, number>,
  ) {}

  /** Starts all instances. */
  async start(): Promise<void> {
    while (this.#apps.length < this.instances) this.#apps.push(await this.#startApp());
  }

  #startApp(): Promise<TestApp> {
    const env = { DATABASE_URL: this.database.url, TRUSTED_PROXY_HOPS: "1" };
    return startApp(env, this.clock);
  }

  app(at = 0): TestApp {
    const app = this.#apps[at % this.#apps.length];
    if (app === undefined) throw new Error("There is no instance");
    return app;
  }

  readonly send: Send = (path, init) => this.app().fetch(path, init);

  mint(id: string, role: Role, ttlSeconds: number): Promise<string> {
    return this.app().services.tokens.mint({ id, roles: [role] }, ttlSeconds);
  }

  /** Throws the import's error; an invalid line is an error in the test. */
  async importCsv(csv: string): Promise<void> {
    const body = new Blob([csv]).stream();
    const lines = await Array.fromAsync(readFlightPlans(body, "csv"));
    const flights = lines.map((line) => {
      if ("plan" in line) return line;
      throw new Error(line.error);
    });
    const { storage } = this.app().services;
    const importing = { storage, endOutdated: endOutdatedOffers };
    await importFlights(importing, flights, new Date(this.clock.now()));
  }

  async restart(at = 0): Promise<void> {
    const number = at % this.instances;
    await this.app(number).stop();
    this.#apps[number] = await this.#startApp();
  }

  count(what: string): void {
    this.tally.set(what, (this.tally.get(what) ?? 0) + 1);
  }

  async close(): Promise<void> {
    for (const app of this.#apps) await app.stop();
    await this.database.remove();
    removeFolder(this.folder);
  }
}

/** Opens a world of a class on a new database. */
export async function openWorld<World extends AppWorld>(
  Kind: new (...args: ConstructorParameters<typeof AppWorld>) => World,
  kind: DatabaseKind,
  instances: number,
  tally: Map<string, number>,
): Promise<World> {
  const folder = temporaryFolder();
  mkdirSync(dirname(databaseIn(folder)));
  const world = new Kind(await kind.make(folder), folder, instances, tally);
  await world.start();
  return world;
}
