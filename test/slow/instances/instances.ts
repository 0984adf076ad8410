import { join } from "node:path";

import { SQL } from "bun";

import { until } from "../../support/app.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { type LoadBalancer, loadBalancer } from "../../support/load-balancer.ts";
import { startIn } from "../../support/load.ts";
import { type MovableAddress, movableAddress } from "../../support/movable-address.ts";
import { type OwnPostgres, ownPostgres } from "../../support/own-postgres.ts";
import { removeFolder, type RunningServer, temporaryFolder } from "../../support/program.ts";
import { type CrashDatabase, endsOfWaits, type Row } from "../crash/databases.ts";
import { asAdminAt, Fleet } from "../crash/fleet.ts";
import { onPostgres } from "../crash/ids-in-sql.ts";
import { wholeRows } from "../crash/invariants.ts";
import type { Server } from "../crash/requests.ts";
import type { Service } from "../crash/rounds.ts";
import { addFlights, allDelivered, idsByKey } from "../crash/service.ts";

/** Leases of a dead instance end after 30 s, and may be noticed 30 s later. */
const leasePatienceMs = 75_000;
const leaseMs = 30_000;
/** Without the rows that a live instance is changing: waiting for them could be a deadlock. */
const endOfLeases =
  "update deliveries set leased_until = 0 where ctid = any(array(select ctid from deliveries where leased_until is not null for update skip locked))";
/** A delivery takes much less: the gateway answers at once. */
const quietMs = 2_000;
/** How long the other instance may take to learn of a destination, and a little more. */
const learningMs = 2_500;

/**
 * The setup of deploy/: two instances behind the load balancer, a PostgreSQL server behind a movable address,
 * and an operator gateway.
 */
export class Instances implements Service {
  /** Empty: this gateway answers every request. */
  readonly held: readonly string[] = [];
  readonly #ends: (() => unknown)[] = [];
  readonly #database: OwnPostgres;
  readonly #address: MovableAddress;
  /** The current database server. */
  #holder: Pick<OwnPostgres, "url">;
  readonly #folder: string;
  readonly #gateway: TestGateway;
  readonly #servers: RunningServer[] = [];
  #balancer: LoadBalancer | null = null;

  /** `seats` of each flight. `withFleet`: fifty destinations besides the gateway. */
  static async open(seats: readonly number[], withFleet = false): Promise<Instances> {
    const database = await ownPostgres();
    const address = await movableAddress(database.url);
    const instances = new Instances(database, address, withFleet ? new Fleet() : null);
    try {
      await instances.#start(seats);
      return instances;
    } catch (error) {
      await instances.end();
      throw error;
    }
  }

  private constructor(
    database: OwnPostgres,
    address: MovableAddress,
    readonly fleet: Fleet | null,
  ) {
    this.#database = database;
    this.#address = address;
    this.#holder = database;
    this.#folder = temporaryFolder();
    this.#gateway = testGateway(() => new Response());
    this.#ends.push(
      () => database.end(),
      () => address.stop(),
      () => removeFolder(this.#folder),
      () => this.#gateway.stop(),
      () => fleet?.stop(),
    );
  }

  async #start(seats: readonly number[]): Promise<void> {
    await addFlights(this.#folder, this.#database.url, seats);
    const one = await this.#startInstance("0");
    const two = await this.#startInstance("0");
    this.#servers.push(one, two);
    this.#balancer = await loadBalancer(one, two);
    this.#ends.push(() => this.#balancer?.stop());
    if (this.fleet !== null) {
      await this.fleet.create(asAdminAt(this.#balancer.url));
      // As docs/destinations.md says, the other instance may not know the last of them before.
      await Bun.sleep(learningMs);
    }
  }

  async #startInstance(port: string): Promise<RunningServer> {
    const env = {
      DATABASE_URL: this.#address.url,
      DATABASE_POOL_SIZE: "5",
      TRUSTED_PROXY_HOPS: "1",
      ...this.#gateway.env,
      DESTINATIONS_ALLOW_PRIVATE: "true",
      DATA_DIR: join(this.#folder, "data"),
    };
    const server = await startIn(this.#folder, env, { port });
    this.#ends.push(() => server.kill());
    return server;
  }

  async running(): Promise<Server> {
    if (this.#balancer === null) throw new Error("Nothing runs");
    return this.#balancer;
  }

  /** Kills the first instance. */
  async killOne(): Promise<void> {
    await this.#servers[0]?.kill();
  }

  /** Starts it again at the address that the load balancer knows. */
  startOne(): Promise<void> {
    return this.#startAgain(0);
  }

  async #startAgain(index: number): Promise<void> {
    const { PORT = "0" } = this.#servers[index]?.env ?? {};
    this.#servers[index] = await this.#startInstance(PORT);
  }

  /** Crashes the database server and starts it again. */
  async restartDatabase(): Promise<void> {
    await this.#database.crash();
    await this.#database.start();
  }

  /**
   * Crashes the database server, moves its address to a standby, and promotes the standby. Replication was
   * synchronous, so the standby has everything acknowledged.
   */
  async failOver(): Promise<void> {
    const standby = await this.#database.addStandby();
    await this.#database.crash();
    this.#address.moveTo(standby.url);
    this.#holder = standby;
    await standby.promote();
  }

  /**
   * Releases the leases of an outage before they expire. Waits until no delivery is in progress: losing a
   * lease during a delivery adds an attempt.
   */
  async endLeases(): Promise<void> {
    const young = async () => {
      const least = Date.now() + leaseMs - quietMs;
      const rows = await this.#rows(
        `select notification from deliveries where leased_until > ${least}`,
      );
      return rows.length;
    };
    await until(async () => (await young()) === 0, leasePatienceMs);
    await this.#rows(endOfLeases);
  }

  left(sql: string): Promise<readonly Row[]> {
    const database: CrashDatabase = {
      url: this.#holder.url,
      left: async () => ({
        rows: (text) => this.#rows(onPostgres(text)),
        schema: async () => [],
        damage: async () => [],
        close() {},
      }),
      endLeases: () => this.endLeases(),
      endWaits: () => this.#endWaits(),
      remove: async () => {},
    };
    return wholeRows(database, sql);
  }

  async #rows(text: string): Promise<readonly Row[]> {
    await using sql = new SQL(this.#holder.url, { max: 1 });
    const rows: Row[] = await sql.unsafe(text);
    return rows;
  }

  notified(): ReadonlyMap<string, readonly string[]> {
    return idsByKey(this.#gateway);
  }

  async #endWaits(): Promise<void> {
    for (const sql of endsOfWaits) await this.#rows(sql);
  }

  /** Without waiting for leases, retries, and circuits to close. */
  async #healFleet(fleet: Fleet): Promise<void> {
    fleet.heal();
    for (const server of this.#servers) await server.kill();
    await this.#rows(endOfLeases);
    await this.#endWaits();
    for (const index of this.#servers.keys()) await this.#startAgain(index);
    await fleet.resume(asAdminAt((await this.running()).url));
  }

  async settled(): Promise<void> {
    if (this.fleet !== null) await this.#healFleet(this.fleet);
    await allDelivered(await this.running(), leasePatienceMs);
  }

  async stop(): Promise<void> {
    for (const server of this.#servers) {
      const code = await server.stop();
      if (code !== 0) throw new Error(`An instance ended with ${code}: ${server.log()}`);
    }
  }

  async end(): Promise<void> {
    for (const end of this.#ends.splice(0).toReversed()) await end();
  }
}
