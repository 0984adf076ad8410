import { deepEqual, equal } from "node:assert/strict";

import fc from "fast-check";

import { json, signed, startApp, type TestApp } from "../../support/app.ts";
import { type ManualClock, manualClock } from "../../support/clock.ts";
import type { TestDatabase } from "../../support/databases.ts";
import { addFlight, bookingBody, post, seatsLeft } from "../../support/flights.ts";

import { checkLives } from "./random-lives.ts";
import { hourMs, minuteMs, refundTerms, saleEndsMs } from "./rules.ts";

/*
 * Random lives of held bookings, compared with an independent model after each step: seats, statuses, payments
 * and refunds. With two instances, each step goes to either.
 */

const path = "/v1/api/bookings";
const priceMinor = 49_950;
const holdMs = 20 * minuteMs;
const flightSeats = [4, 7];
/** How long a release may take after the hold ended. */
const expiryPatience = 60;

interface ModelFlight {
  readonly id: number;
  readonly departureMs: number;
  left: number;
}

interface Recorded {
  readonly payment: string;
  readonly figure: string;
  readonly minor: number;
  readonly status: string;
}

interface ModelBooking {
  readonly id: string;
  readonly owner: string;
  readonly flight: ModelFlight;
  readonly seats: number;
  readonly createdMs: number;
  readonly expiresMs: number;
  status: "held" | "confirmed" | "expired" | "cancelled";
  isPaid: boolean;
  refunded: number;
  due: number;
  records: Recorded[];
}

const totalOf = ({ seats }: ModelBooking) => seats * priceMinor;

/** The service and what it should contain. */
export class World {
  readonly flights: ModelFlight[] = [];
  readonly bookings: ModelBooking[] = [];
  /** Refunds that name no booking, of payments that no booking has. */
  waiting: { readonly payment: string; readonly minor: number }[] = [];
  #events = 0;

  private constructor(
    readonly apps: readonly TestApp[],
    readonly clock: ManualClock,
    readonly tally: Map<string, number>,
    readonly database: TestDatabase | null,
  ) {}

  static async open(
    instances: number,
    database: TestDatabase | null,
    tally: Map<string, number>,
  ): Promise<World> {
    const clock = manualClock();
    const env = database === null ? {} : { DATABASE_URL: database.url };
    const apps: TestApp[] = [];
    for (let number = 0; number < instances; number += 1) apps.push(await startApp(env, clock));
    const world = new World(apps, clock, tally, database);
    for (const [index, seats] of flightSeats.entries()) {
      const { id, departureTime } = await addFlight(world.app(0), {
        flightNumber: `SK${index}`,
        seats,
      });
      world.flights.push({ id, departureMs: departureTime.getTime(), left: seats });
    }
    return world;
  }

  async close(): Promise<void> {
    for (const app of this.apps) await app.stop();
    await this.database?.[Symbol.asyncDispose]();
  }

  app(instance: number): TestApp {
    const app = this.apps[instance % this.apps.length];
    if (app === undefined) throw new Error("There is no instance");
    return app;
  }

  count(what: string): void {
    this.tally.set(what, (this.tally.get(what) ?? 0) + 1);
  }

  booking(index: number): ModelBooking | null {
    return this.bookings[index % Math.max(1, this.bookings.length)] ?? null;
  }

  /** A signed event about a payment. */
  event(type: string, booking: string | null, object: object): RequestInit {
    this.#events += 1;
    const id = `evt_${this.#events}`;
    const metadata = booking === null ? {} : { booking };
    const body = JSON.stringify({ id, type, data: { object: { ...object, metadata } } });
    return signed("payment_processor", body, this.clock);
  }

  /** Delivers an event. Returns the first word of its effect. */
  async deliver(instance: number, request: RequestInit): Promise<string> {
    const response = await this.app(instance).fetch("/webhooks/payment_processor", request);
    equal(response.status, 200);
    const { id } = await json(response);
    const event = await json(
      await this.app(instance + 1).as("operator", `/v1/events/${String(id)}`),
    );
    const [word = ""] = String(event["effect"]).split(" ");
    this.count(`effect: ${word}`);
    return word;
  }

  /** Ends the holds whose time is over. */
  expire(): void {
    for (const booking of this.bookings) {
      if (booking.status !== "held" || booking.expiresMs > this.clock.now()) continue;
      booking.status = "expired";
      booking.flight.left += booking.seats;
      this.count("expired");
    }
  }

  /** Compares everything with the service, which has a moment to release holds. */
  async compare(): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      this.expire();
      try {
        return await this.#compareOnce();
      } catch (error) {
        if (attempt === expiryPatience) throw error;
        await Bun.sleep(attempt);
        this.clock.advance(50);
      }
    }
  }

  async #compareOnce(): Promise<void> {
    for (const flight of this.flights) {
      const sold = this.bookings
        .filter((one) => one.flight === flight && ["held", "confirmed"].includes(one.status))
        .reduce((sum, { seats }) => sum + seats, 0);
      const capacity = flightSeats[this.flights.indexOf(flight)] ?? 0;
      equal(flight.left, capacity - sold, "the model's own seats");
      equal(await seatsLeft(this.app(0), flight.id), flight.left, "seats left");
    }
    for (const booking of this.bookings) {
      const shown = await json(await this.app(1).as("admin", `${path}/${booking.id}`));
      deepEqual(viewOf(shown), expected(booking, this.clock.now()), booking.id);
    }
  }
}

function viewOf(shown: Record<string, unknown>) {
  // Guarantee: the schema of the API.
  const payments = shown["payments"] as { status: string }[];
  const refund = shown["refund"] as { amount: number; refunded: number; status: string } | null;
  const payouts = (shown["refund"] as { payouts: { status: string }[] } | null)?.payouts ?? [];
  return {
    status: shown["status"],
    payments: payments.map(({ status }) => status).toSorted(compareText),
    payouts: payouts.map(({ status }) => status).toSorted(compareText),
    due: refund === null ? 0 : Math.round(refund.amount * 100),
    refunded: refund === null ? 0 : Math.round(refund.refunded * 100),
    refund: refund?.status ?? "none",
  };
}

const compareText = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);
const isPayout = ({ status }: Recorded) =>
  ["refunded", "overrefunded", "unmatched"].includes(status);

function expected(booking: ModelBooking, nowMs: number) {
  const { status, records, due, refunded, flight } = booking;
  const names = (of: readonly Recorded[]) => of.map((one) => one.status).toSorted(compareText);
  const isFlown = status === "confirmed" && flight.departureMs <= nowMs;
  const progress =
    due === 0 && refunded === 0
      ? "none"
      : refunded >= due
        ? "succeeded"
        : refunded === 0
          ? "pending"
          : "partial";
  return {
    status: isFlown ? "flown" : status,
    payments: names(records.filter((one) => !isPayout(one))),
    payouts: names(records.filter(isPayout)),
    due,
    refunded,
    refund: progress,
  };
}

/** A step in the life of the bookings. */
type Step = fc.AsyncCommand<object, World>;

const step = <Input extends object>(
  name: string,
  input: fc.Arbitrary<Input>,
  run: (world: World, input: Input) => Promise<void>,
): fc.Arbitrary<Step> =>
  input.map((values) => ({
    check: () => true,
    async run(_, world) {
      world.expire();
      await run(world, values);
      await world.compare();
    },
    toString: () => `${name} ${JSON.stringify(values)}`,
  }));

const instance = fc.nat({ max: 1 });
const which = fc.nat({ max: 5 });

const hold = step(
  "hold",
  fc.record({ instance, flight: fc.nat({ max: 1 }), seats: fc.integer({ min: 1, max: 3 }) }),
  async (world, { instance: at, flight: index, seats }) => {
    const flight = world.flights[index];
    if (flight === undefined || world.bookings.length >= 8) return;
    const owner = `owner-${world.bookings.length}`;
    const body = { ...bookingBody(flight.id, seats), hold: true };
    const nowMs = world.clock.now();
    const response = await world.app(at).as("user", path, post(body), owner);
    const isOpen = flight.departureMs > nowMs + saleEndsMs;
    if (!isOpen || flight.left < seats) {
      equal(response.status, isOpen ? 409 : 422);
      return world.count("hold refused");
    }
    equal(response.status, 201);
    flight.left -= seats;
    world.bookings.push({
      id: String((await json(response))["bookingId"]),
      owner,
      flight,
      seats,
      createdMs: nowMs,
      expiresMs: Math.min(nowMs + holdMs, flight.departureMs - saleEndsMs),
      status: "held",
      isPaid: false,
      refunded: 0,
      due: 0,
      records: [],
    });
    world.count("held");
  },
);

/** What an event says was paid. */
const wrongness = fc.constantFrom("exact", "exact", "exact", "less", "more", "euros", "text");
const payment = fc.constantFrom("pi_1", "pi_1", "pi_1", "pi_2", "pi_shared");

function paid(booking: ModelBooking, how: string) {
  const amount = totalOf(booking) + (how === "less" ? -1 : how === "more" ? 1 : 0);
  return {
    amount_received: how === "text" ? String(amount) : amount,
    currency: how === "euros" ? "eur" : "usd",
  };
}

const idOf = (booking: ModelBooking, name: string) =>
  name === "pi_shared" ? name : `${name}_${booking.id}`;

/** The refunds that waited for a payment are of the booking that names it first. */
function modelSettles(world: World, booking: ModelBooking, id: string): void {
  const settled = world.waiting.filter(({ payment: of }) => of === id);
  world.waiting = world.waiting.filter(({ payment: of }) => of !== id);
  for (const { minor } of settled) {
    modelRefunds(world, booking, id, minor);
    world.count("refund found later");
  }
}

/** What the model expects of a payment; changes it. Returns the first word of the effect. */
function modelPays(world: World, booking: ModelBooking, how: string, name: string): string {
  const id = idOf(booking, name);
  modelSettles(world, booking, id);
  const confirms = ({ records }: ModelBooking) =>
    records.some((one) => one.payment === id && one.status === "confirmed");
  if (world.bookings.some(confirms)) return "no";
  const minor = totalOf(booking) + (how === "less" ? -1 : how === "more" ? 1 : 0);
  const known = booking.records.filter((one) => one.payment === id && !isPayout(one));
  if (known.some((one) => one.figure === how && one.status !== "failed")) return "no";
  const returned = Math.max(
    0,
    ...booking.records
      .filter((one) => one.payment === id && one.status === "unmatched")
      .map((one) => one.minor),
  );
  if (how !== "euros" && returned > 0 && returned >= (how === "text" ? 0 : minor)) return "no";
  const record = (status: string) => {
    booking.records.push({ payment: id, figure: how, minor, status });
    world.count(`payment: ${status}`);
    return status === "confirmed" ? "confirmed" : "no";
  };
  if (booking.status === "confirmed") return record("surplus");
  if (booking.status === "cancelled") return record("unseated");
  if (how !== "exact") return record("mismatch");
  if (booking.status === "expired") {
    const isOpen = booking.flight.departureMs > world.clock.now() + saleEndsMs;
    if (!isOpen || booking.flight.left < booking.seats) return record("unseated");
    booking.flight.left -= booking.seats;
    world.count("reseated");
  }
  booking.status = "confirmed";
  booking.isPaid = true;
  booking.refunded = returned;
  booking.records = booking.records.map((one) =>
    one.payment === id && one.status === "unmatched" ? { ...one, status: "refunded" } : one,
  );
  if (returned > 0) world.count("refunded before paid");
  return record("confirmed");
}

const pay = step(
  "pay",
  fc.record({ instance, which, how: wrongness, payment, copies: fc.integer({ min: 1, max: 3 }) }),
  async (world, { instance: at, which: index, how, payment: name, copies }) => {
    const booking = world.booking(index);
    if (booking === null) return;
    const object = { id: idOf(booking, name), ...paid(booking, how) };
    const word = modelPays(world, booking, how, name);
    const request = world.event("payment_intent.succeeded", booking.id, object);
    // Copies of one event, at the same time at all instances, have its one effect.
    const words = await Promise.all(
      Array.from({ length: copies }, (_, copy) => world.deliver(at + copy, request)),
    );
    deepEqual(words, Array<string>(copies).fill(word));
  },
);

const payOften = step(
  "pay often",
  fc.record({ instance, which }),
  async (world, { instance: at, which: index }) => {
    const booking = world.booking(index);
    if (booking === null) return;
    const object = { id: idOf(booking, "pi_1"), ...paid(booking, "exact") };
    const expectedWord = modelPays(world, booking, "exact", "pi_1");
    const words = await Promise.all(
      Array.from({ length: 4 }, (_, copy) =>
        world.deliver(at + copy, world.event("payment_intent.succeeded", booking.id, object)),
      ),
    );
    equal(words.filter((word) => word === "confirmed").length, expectedWord === "no" ? 0 : 1);
  },
);

const fail = step(
  "fail",
  fc.record({ instance, which }),
  async (world, { instance: at, which: index }) => {
    const booking = world.booking(index);
    if (booking === null) return;
    const object = { id: idOf(booking, "pi_1"), amount: 1, currency: "usd" };
    const isElsewhere = world.bookings.some(
      (one) =>
        one !== booking &&
        one.records.some(({ payment: id, status }) => id === object.id && status === "confirmed"),
    );
    if (!isElsewhere) {
      booking.records.push({ payment: object.id, figure: "failed", minor: 1, status: "failed" });
      modelSettles(world, booking, object.id);
    }
    await world.deliver(at, world.event("payment_intent.payment_failed", booking.id, object));
  },
);

function modelRefunds(world: World, booking: ModelBooking, id: string, minor: number): string {
  const confirms = ({ records }: ModelBooking) =>
    records.some((one) => one.payment === id && one.status === "confirmed");
  // A refund belongs to its payment, whatever booking it names.
  const payer = world.bookings.find((one) => one !== booking && confirms(one));
  if (payer !== undefined) return modelRefunds(world, payer, id, minor);
  const record = (status: string) => {
    booking.records.push({ payment: id, figure: String(minor), minor, status });
    world.count(`refund: ${status}`);
    return status === "refunded" ? "refunded" : "no";
  };
  const known = booking.records.filter(
    (one) => one.payment === id && ["overrefunded", "unmatched"].includes(one.status),
  );
  if (known.some((one) => one.minor === minor)) return "no";
  if (!confirms(booking)) return record("unmatched");
  if (minor > totalOf(booking)) return record("overrefunded");
  if (minor <= booking.refunded) return "no";
  booking.refunded = minor;
  return record("refunded");
}

const refund = step(
  "refund",
  fc.record({
    instance,
    which,
    payment,
    percent: fc.constantFrom(10, 50, 90, 100, 110),
    names: fc.boolean(),
  }),
  async (world, { instance: at, which: index, payment: name, percent, names }) => {
    const booking = world.booking(index);
    if (booking === null) return;
    const id = idOf(booking, name);
    const minor = Math.floor((totalOf(booking) * percent) / 100);
    const object = { payment_intent: id, amount_refunded: minor, currency: "usd" };
    const knows = world.bookings.some(({ records }) => records.some((one) => one.payment === id));
    // Without the booking, it is found by its payment, which the shared one does not identify.
    const isNamed = names || (knows && name === "pi_shared");
    const waits = !isNamed && !knows;
    if (waits) {
      world.waiting.push({ payment: id, minor });
      world.count("refund waits");
    }
    const word = waits ? "no" : modelRefunds(world, booking, id, minor);
    if (!waits) modelSettles(world, booking, id);
    const request = world.event("charge.refunded", isNamed ? booking.id : null, object);
    equal(await world.deliver(at, request), word);
  },
);

/** The status that the model expects of a cancellation; changes it. */
function modelCancels(world: World, booking: ModelBooking): number {
  const { flight, status } = booking;
  if (status === "cancelled") return 200;
  if (flight.departureMs <= world.clock.now()) return 400;
  if (status === "expired") return 422;
  booking.due = booking.isPaid
    ? refundTerms(totalOf(booking), booking.createdMs, flight.departureMs, world.clock.now())
        .amountMinor
    : 0;
  booking.status = "cancelled";
  flight.left += booking.seats;
  world.count(booking.isPaid ? "cancelled" : "released");
  return 200;
}

const cancelRequest = (world: World, at: number, { id, owner }: ModelBooking) =>
  world.app(at).as("user", `${path}/${id}`, { method: "DELETE" }, owner);

const cancel = step(
  "cancel",
  fc.record({ instance, which }),
  async (world, { instance: at, which: index }) => {
    const booking = world.booking(index);
    if (booking === null) return;
    const expected = modelCancels(world, booking);
    equal((await cancelRequest(world, at, booking)).status, expected);
  },
);

const race = step(
  "pay and cancel at once",
  fc.record({ instance, which }),
  async (world, { instance: at, which: index }) => {
    const booking = world.booking(index);
    if (booking?.status !== "held" || booking.flight.departureMs <= world.clock.now()) return;
    const object = { id: idOf(booking, "pi_1"), ...paid(booking, "exact") };
    const request = world.event("payment_intent.succeeded", booking.id, object);
    const [word, response] = await Promise.all([
      world.deliver(at, request),
      cancelRequest(world, at + 1, booking),
    ]);
    equal(response.status, 200);
    // Either came first; nothing else may have happened.
    const wasPaid = word === "confirmed";
    world.count(wasPaid ? "race: paid first" : "race: cancelled first");
    if (wasPaid) equal(modelPays(world, booking, "exact", "pi_1"), "confirmed");
    equal(modelCancels(world, booking), 200);
    if (!wasPaid) equal(modelPays(world, booking, "exact", "pi_1"), "no");
  },
);

const wait = step(
  "wait",
  fc.record({ minutes: fc.constantFrom(1, 9, 20, 21) }),
  async (world, { minutes }) => {
    world.clock.advance(minutes * minuteMs);
  },
);

const longWait = step(
  "wait",
  fc.record({ hours: fc.constantFrom(25, 24 * 27, 24 * 30) }),
  async (world, { hours }) => {
    world.clock.advance(hours * hourMs);
  },
);

const jump = step(
  "jump",
  fc.record({ minutes: fc.constantFrom(-30, -1, 5, 25) }),
  async (world, { minutes }) => {
    world.clock.jump(minutes * minuteMs);
  },
);

const weights: readonly (readonly [number, fc.Arbitrary<Step>])[] = [
  [6, hold],
  [8, pay],
  [2, payOften],
  [2, fail],
  [6, refund],
  [4, cancel],
  [3, race],
  [3, wait],
  [1, longWait],
  [2, jump],
];

const steps = fc.commands(
  weights.flatMap(([weight, arbitrary]) => Array.from({ length: weight }, () => arbitrary)),
  { maxCommands: 40, size: "max" },
);

/** Runs random lives of bookings, each in a new service. Throws with the shortest failing one. */
export async function checkPayments(
  open: () => Promise<World>,
  options: { readonly seed: number; readonly runs: number },
): Promise<void> {
  await checkLives(steps, open, { ...options, limitMs: 240_000 });
}
