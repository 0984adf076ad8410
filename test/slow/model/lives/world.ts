import { deepEqual, equal, ok } from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";

import fc from "fast-check";

import { flightById } from "../../../../src/booking/flights/flights.sql.ts";
import { json, signed } from "../../../support/app.ts";
import { changeFlight, type FlightImport } from "../../../support/flight-changes.ts";
import { addFlight, post, seatsLeft } from "../../../support/flights.ts";
import { listAt } from "../../../support/graphql.ts";
import { bookingsPath } from "../../harness/requests.ts";
import { AppWorld } from "../app-world.ts";

import { type BookingRow, broken, type Content, isOpen, nothing, read } from "./content.ts";
import { isPlain, type Notice } from "./payment-rules.ts";
import { flightOf, hasLeft, leads } from "./rules.ts";

/** How often the service is looked at until nothing is due. */
const patience = 200;
/** Half of the first one is credited before its departure, which is just the second one. */
const prices = [60_000, 30_000, 49_951];

/** The service, whose database is compared after each step with what it should contain. */
export class BookingWorld extends AppWorld {
  /** The number of events that were made. */
  events = 0;
  before: Content = nothing;
  #turn = 0;

  async furnish(): Promise<object> {
    for (const [index, lead] of leads.entries()) {
      const departureTime = new Date(this.clock.now() + lead);
      const priceMinor = prices[index] ?? 0;
      const flight = { flightNumber: `SK${index}`, departureTime, priceMinor, seats: 3 + index };
      await addFlight(this.app(), flight);
    }
    this.before = await read(this.database);
    return {};
  }

  /** Sends a request. No request may fail. */
  async ask(at: number, owner: string, method: string, path: string, body?: object) {
    const init = body === undefined ? { method } : { ...post(body), method };
    const response = await this.app(at).as("user", path, init, owner);
    const answer = await json(response);
    ok(response.status < 500, `${method} ${path}: ${JSON.stringify(answer)}`);
    return { status: response.status, answer };
  }

  ofBooking(at: number, { owner, id }: BookingRow, method: string, rest: string, body?: object) {
    return this.ask(at, owner, method, `${bookingsPath}/${id}${rest}`, body);
  }

  /** A signed event about a payment of a booking; null: it names none. */
  event(type: string, booking: BookingRow | null, notice: Notice): RequestInit {
    const { reference, minor, currency } = notice;
    this.events += 1;
    const metadata = booking === null ? {} : { booking: booking.id };
    const amount = minor ?? "much";
    const object =
      type === "charge.refunded"
        ? { payment_intent: reference, amount_refunded: amount, currency, metadata }
        : { id: reference, amount_received: amount, currency, metadata };
    const body = JSON.stringify({ id: `evt_${this.events}`, type, data: { object } });
    return signed("payment_processor", body, this.clock);
  }

  /** Delivers an event. Returns the first word of its effect. */
  async deliver(at: number, request: RequestInit): Promise<string> {
    const response = await this.app(at).fetch("/webhooks/payment_processor", request);
    equal(response.status, 200);
    const { id } = await json(response);
    const shown = await this.app(at + 1).as("operator", `/v1/events/${String(id)}`);
    const [word = ""] = String((await json(shown))["effect"]).split(" ");
    this.count(`effect: ${word}`);
    return word;
  }

  async import(at: number, id: number, change: (flight: object) => FlightImport): Promise<void> {
    const app = this.app(at);
    const [flight] = await app.services.storage.all(flightById, { id });
    if (flight !== undefined) await changeFlight(app, flight, change(flight));
  }

  /** Waits until nothing is due, and returns what the database has then. What must always hold is checked. */
  async settled(): Promise<Content> {
    for (let attempt = 0; ; attempt += 1) {
      const content = await read(this.database);
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

  /** Compares what the database has, and what the API shows of it. `expected`: null for anything possible. */
  async compare(content: Content, expected: Content | null): Promise<void> {
    for (const booking of expected?.bookings ?? []) {
      const now = content.bookings.find(({ id }) => id === booking.id);
      if (now === undefined) throw new Error(`${booking.id} is missing`);
      const hasExpired = booking.status === "held" && (booking.expires ?? 0) <= this.clock.now();
      const status = hasExpired ? "expired" : booking.status;
      deepEqual(moneyOf(now), moneyOf({ ...booking, status }), booking.id);
      if (expected === null || !isPlain(content, now)) continue;
      equal(now.refunded, booking.refunded, `refunded of ${booking.id}`);
      deepEqual(outcomesOf(content, now), outcomesOf(expected, booking), booking.id);
    }
    await this.#compareViews(content);
  }

  async #compareViews(content: Content): Promise<void> {
    for (const { id, free, cancelled } of content.flights)
      if (cancelled === null) equal(await seatsLeft(this.app(), id), Math.max(0, free));
    const turn = (this.#turn += 1);
    for (const [index, booking] of content.bookings.entries()) {
      // Those that changed, and another one of the rest each time.
      const former = this.before.bookings.find(({ id }) => id === booking.id);
      const isSame = former !== undefined && isDeepStrictEqual(former, booking);
      if (isSame && index !== turn % content.bookings.length) continue;
      const { status, due, refunded } = booking;
      const shown = await json(await this.app(1).as("admin", `${bookingsPath}/${booking.id}`));
      const isGone = hasLeft(flightOf(content, booking.flight), this.clock.now());
      equal(shown["status"], status === "confirmed" && isGone ? "flown" : status, booking.id);
      const refund: Record<string, unknown> | null =
        shown["refund"] === null ? null : Object(shown["refund"]);
      const outcomes = [
        ...listAt(shown, "payments"),
        ...(refund === null ? [] : listAt(refund, "payouts")),
      ];
      deepEqual(
        outcomes.map((one) => String(Object(one)["status"])).toSorted(),
        outcomesOf(content, booking),
        booking.id,
      );
      if (refund === null) deepEqual([due, refunded], [0, 0], booking.id);
      else {
        const [some, all] = refunded === 0 ? ["pending", "none"] : ["partial", "succeeded"];
        const progress = refunded < due ? some : all;
        const minor = ["amount", "refunded"].map((name) => Math.round(Number(refund[name]) * 100));
        deepEqual([...minor, refund["status"]], [due, refunded, progress], booking.id);
      }
    }
  }
}

const outcomesOf = ({ payments }: Content, { id }: BookingRow): readonly string[] =>
  payments.flatMap(({ booking, outcome }) => (booking === id ? outcome : [])).toSorted();

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
function dueIn({ bookings, offers, payments, waiting }: Content, nowMs: number): readonly string[] {
  const holds = bookings.filter((one) => one.status === "held" && (one.expires ?? 0) <= nowMs);
  const ended = offers.filter((one) => isOpen(one) && one.expires <= nowMs);
  const found = waiting.filter((one) => payments.some((row) => row.reference === one.reference));
  return [
    ...[...holds, ...ended].map(({ id, status }) => `${id} ${status}`),
    ...found.map(({ reference }) => `the refund of ${reference}`),
  ];
}

/** A step in the lives of bookings. */
export type Step = fc.AsyncCommand<object, BookingWorld>;

/** Whether anything possible may have come of a step. */
type Outcome = "anything" | void;

/** `run` changes `expected`, which is what was there before, into what should be there then. */
export const step = <Input extends object>(
  name: string,
  input: fc.Arbitrary<Input>,
  run: (world: BookingWorld, expected: Content, input: Input) => Promise<Outcome>,
): fc.Arbitrary<Step> =>
  input.map((values) => ({
    check: () => true,
    async run(_, world) {
      const expected = structuredClone(world.before);
      const outcome = await run(world, expected, values);
      const after = await world.settled();
      await world.compare(after, outcome === "anything" ? null : expected);
      world.before = after;
    },
    toString: () => `${name} ${JSON.stringify(values)}`,
  }));

export const at = fc.nat({ max: 1 });
export const which = fc.nat({ max: 11 });
export const seats = fc.integer({ min: 1, max: 3 });
