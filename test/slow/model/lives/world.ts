import { deepEqual, equal, ok } from "node:assert/strict";

import { flightById } from "../../../../src/booking/flights/flights.sql.ts";
import { json, signed, startApp, type TestApp } from "../../../support/app.ts";
import { type ManualClock, manualClock } from "../../../support/clock.ts";
import { changeFlight, type FlightImport } from "../../../support/flight-changes.ts";
import { addFlight, post } from "../../../support/flights.ts";

import { leads } from "./rules.ts";
import { type BookingRow, broken, type Content, isOpen, read, type Store } from "./store.ts";

const bookingsPath = "/v1/api/bookings";
/** How often the service is looked at until nothing is due. */
const patience = 200;
/** Half of the first one is credited before its departure, which is just the second one. */
const prices = [60_000, 30_000, 49_951];

/** The service on its database. Each step goes to any of its instances. */
export class World {
  #apps: TestApp[] = [];
  #events = 0;
  /** The payments that were sent, with their amounts. */
  readonly payments: { readonly id: string; readonly booking: string; readonly minor: number }[] =
    [];
  before: Content = { flights: [], bookings: [], offers: [] };

  private constructor(
    readonly store: Store,
    readonly clock: ManualClock,
    readonly tally: Map<string, number>,
    readonly instances: number,
  ) {}

  static async open(
    instances: number,
    openStore: () => Promise<Store>,
    tally: Map<string, number>,
  ): Promise<World> {
    const world = new World(await openStore(), manualClock(), tally, instances);
    for (let number = 0; number < instances; number += 1) world.#apps.push(await world.#start());
    for (const [index, lead] of leads.entries()) {
      const departureTime = new Date(world.clock.now() + lead);
      const priceMinor = prices[index] ?? 0;
      await addFlight(world.app(0), {
        flightNumber: `SK${index}`,
        departureTime,
        priceMinor,
        seats: 3 + index,
      });
    }
    world.before = await read(world.store);
    return world;
  }

  #start(): Promise<TestApp> {
    return startApp({ DATABASE_URL: this.store.url }, this.clock);
  }

  async restart(at: number): Promise<void> {
    const number = at % this.instances;
    await this.app(number).stop();
    this.#apps[number] = await this.#start();
  }

  async close(): Promise<void> {
    for (const app of this.#apps) await app.stop();
    await this.store.close();
  }

  app(at: number): TestApp {
    const app = this.#apps[at % this.#apps.length];
    if (app === undefined) throw new Error("There is no instance");
    return app;
  }

  count(what: string): void {
    this.tally.set(what, (this.tally.get(what) ?? 0) + 1);
  }

  /** Sends a request. No request may fail. */
  async send(at: number, owner: string, method: string, path: string, body?: object) {
    const init = body === undefined ? { method } : { ...post(body), method };
    const response = await this.app(at).as("user", path, init, owner);
    const answer = await json(response);
    ok(response.status < 500, `${method} ${path}: ${JSON.stringify(answer)}`);
    return { status: response.status, answer };
  }

  ofBooking(at: number, { owner, id }: BookingRow, method: string, rest: string, body?: object) {
    return this.send(at, owner, method, `${bookingsPath}/${id}${rest}`, body);
  }

  async pay(at: number, type: string, object: Record<string, unknown>): Promise<void> {
    this.#events += 1;
    const body = JSON.stringify({ id: `evt_${this.#events}`, type, data: { object } });
    const request = signed("payment_processor", body, this.clock);
    equal((await this.app(at).fetch("/webhooks/payment_processor", request)).status, 200);
  }

  async import(at: number, id: number, change: (flight: object) => FlightImport): Promise<void> {
    const app = this.app(at);
    const [flight] = await app.services.storage.all(flightById, { id });
    if (flight !== undefined) await changeFlight(app, flight, change(flight));
  }

  /** Waits until nothing is due, and returns what the database has then. What must always hold is checked each time. */
  async settled(): Promise<Content> {
    for (let attempt = 0; ; attempt += 1) {
      const content = await read(this.store);
      const due = dueIn(content, this.clock.now());
      if (due.length === 0) {
        deepEqual(broken(content), []);
        return content;
      }
      if (attempt === patience) throw new Error(`Not done: ${due.join(", ")}`);
      await Bun.sleep(Math.min(attempt, 20));
      this.clock.advance(100);
    }
  }

  /** Compares all bookings with those before the step. `target`: how one of them should have changed. */
  compare(
    after: Content,
    target: { readonly id: string; readonly fields: Partial<BookingRow> },
  ): void {
    for (const booking of this.before.bookings) {
      const now = after.bookings.find(({ id }) => id === booking.id);
      if (now === undefined) throw new Error(`${booking.id} is missing`);
      const isTarget = booking.id === target.id;
      const hasExpired = booking.status === "held" && (booking.expires ?? 0) <= this.clock.now();
      const status = hasExpired ? "expired" : booking.status;
      const expected = { status, ...(isTarget && target.fields) };
      deepEqual(moneyOf(now), moneyOf({ ...booking, ...expected }), booking.id);
    }
  }
}

const moneyOf = ({ id, status, flight, seats, total, charged, paid, due, kept }: BookingRow) => ({
  id,
  status,
  flight,
  seats,
  total,
  charged,
  paid,
  due,
  kept,
});

/** What the service has to do now. */
function dueIn({ bookings, offers }: Content, nowMs: number): readonly string[] {
  const holds = bookings.filter((one) => one.status === "held" && (one.expires ?? 0) <= nowMs);
  const ended = offers.filter((one) => isOpen(one) && one.expires <= nowMs);
  return [...holds, ...ended].map(({ id, status }) => `${id} ${status}`);
}
