import { equal, ok } from "node:assert/strict";

import { at } from "../../support/graphql.ts";
import { keyOf } from "../../support/load.ts";
import { book, cancel, deliver, deliverPayment, type Server } from "../harness/clients.ts";
import type { Times } from "../harness/fleet.ts";
import type { Answer } from "../harness/requests.ts";
import type { World } from "../harness/world.ts";

/** A request that is repeated until it is answered. */
interface Ask {
  /** Unique. */
  readonly name: string;
  readonly send: (server: Server) => Promise<Answer | null>;
  /** The outcome, read from the response; it must never change. */
  readonly outcome: (answer: Answer) => string;
}

interface LedgerOptions {
  /** Statuses with an unknown outcome, treated like a missing response. */
  readonly tolerated?: readonly number[];
  readonly onAcknowledged?: () => void;
  /** Concurrent clients. */
  readonly workers?: number;
  /** How long each waits before its next request. */
  readonly thinkMs?: number;
}

/** The delay before a client retries. */
const pauseMs = 20;
/** A load balancer notices within a second or two that an instance is back. */
const retryPatienceMs = 10_000;
/** Of ten requests, one is a cancellation, one a payment, two are bookings and one a hold; the others are deliveries. */
const cancelShare = 0.1;
const payShare = 0.1;
const bookShare = 0.2;
const holdShare = 0.1;

/** Seats of the booked flights; the last flight sells out quickly. */
export const ledgerSeats = [1_000, 1_000, 1_000, 25];

/** Fewer clients if each event goes to many destinations. */
export const workersOfFleet = 4;

/** Records requests and responses, and thereby what must be in the database. */
export class Ledger {
  readonly #acknowledged = new Map<Ask, string>();
  readonly #refused = new Set<Ask>();
  #unanswered = new Set<Ask>();
  /** Outcomes that were once in the database, which must never disappear. */
  #found: ReadonlyMap<string, string> = new Map();
  readonly #cancellable: string[] = [];
  readonly #payable: string[] = [];
  readonly #tolerated: ReadonlySet<number>;
  readonly #onAcknowledged: () => void;
  readonly #workers: number;
  readonly #thinkMs: number;
  readonly #times = new Map<string, Times>();
  #last = 0;

  constructor(options: LedgerOptions = {}) {
    const { tolerated = [], onAcknowledged = () => {}, workers = 12, thinkMs = 0 } = options;
    this.#thinkMs = thinkMs;
    this.#tolerated = new Set(tolerated);
    this.#onAcknowledged = onAcknowledged;
    this.#workers = workers;
  }

  /** By the name of the request; for a delivery, that is the idempotency key of its event. */
  get times(): ReadonlyMap<string, Times> {
    return this.#times;
  }

  get acknowledged(): number {
    return this.#acknowledged.size;
  }

  get unanswered(): number {
    return this.#unanswered.size;
  }

  /** Sends concurrent requests until one is not answered. */
  async load(server: Server): Promise<void> {
    let isUp = true;
    const work = async () => {
      while (isUp) isUp = (await this.#ask(server, this.#next())) && isUp;
    };
    await Promise.all(Array.from({ length: this.#workers }, work));
  }

  /** Sends requests until the end, even if some are not answered. */
  async loadUntil(server: Server, isOver: () => boolean): Promise<void> {
    const work = async () => {
      while (!isOver()) {
        const isAnswered = await this.#ask(server, this.#next());
        await Bun.sleep(isAnswered ? this.#thinkMs : Math.max(this.#thinkMs, pauseMs));
      }
    };
    await Promise.all(Array.from({ length: this.#workers }, work));
  }

  /** Repeats the unanswered requests: once, or, if errors are tolerated, for some seconds. */
  async retry(server: Server): Promise<void> {
    const endsMs = performance.now() + (this.#tolerated.size === 0 ? 0 : retryPatienceMs);
    do {
      const again = [...this.#unanswered];
      this.#unanswered = new Set();
      await Promise.all(again.map((ask) => this.#ask(server, ask)));
      if (this.unanswered > 0) await Bun.sleep(pauseMs);
    } while (this.unanswered > 0 && performance.now() < endsMs);
    equal(this.unanswered, 0, "A retry was not answered");
  }

  /** Compares with the database of a dead process. Returns how many unanswered requests it had committed. */
  async compare(world: World): Promise<number> {
    const found = await outcomesIn(world);
    for (const [name, outcome] of this.#found)
      equal(found.get(name), outcome, `${name} has changed`);
    for (const [{ name }, outcome] of this.#acknowledged) {
      equal(found.get(name), outcome, `${name} was acknowledged`);
    }
    for (const { name } of this.#refused) ok(!found.has(name), `${name} was refused`);
    this.#found = found;
    const carriedOut = [...this.#unanswered].filter(({ name }) => found.has(name)).length;
    equal(found.size, this.acknowledged + carriedOut, "The database has more than was requested");
    return carriedOut;
  }

  async #ask(server: Server, ask: Ask): Promise<boolean> {
    const askedMs = this.#times.get(ask.name)?.askedMs ?? performance.now();
    const given = await ask.send(server);
    const answer = given === null || this.#tolerated.has(given.status) ? null : given;
    const answeredMs = answer === null ? Infinity : performance.now();
    this.#times.set(ask.name, { askedMs, answeredMs });
    if (answer === null) this.#unanswered.add(ask);
    else if (answer.code === "no-seats") this.#refused.add(ask);
    else {
      ok(answer.status === 200 || answer.status === 201, JSON.stringify(answer.body));
      const outcome = ask.outcome(answer);
      // Committed by a process that died before its response.
      equal(this.#found.get(ask.name) ?? outcome, outcome, `${ask.name} was made again`);
      this.#acknowledged.set(ask, outcome);
      this.#onAcknowledged();
      const status = at(answer.body, "status");
      if (status === "confirmed") this.#cancellable.push(outcome);
      if (status === "held") this.#payable.push(outcome);
    }
    return answer !== null;
  }

  #next(): Ask {
    this.#last += 1;
    const dice = Math.random();
    if (dice < cancelShare) {
      const bookingId = this.#cancellable.shift();
      if (bookingId !== undefined) return cancellation(bookingId);
    }
    if (dice > 1 - payShare) {
      const bookingId = this.#payable.shift();
      if (bookingId !== undefined) return payment(bookingId, this.#cancellable);
    }
    if (dice < cancelShare + bookShare) return booking(this.#last, false);
    return dice < cancelShare + bookShare + holdShare
      ? booking(this.#last, true)
      : webhook(this.#last);
  }
}

function webhook(number: number): Ask {
  return {
    name: keyOf(number),
    send: (server) => deliver(server, number),
    outcome: ({ body }) => String(at(body, "id")),
  };
}

function booking(number: number, hold: boolean): Ask {
  const request = {
    key: `key-${number}`,
    flightId: 1 + (number % 2),
    // Holds have one price, so that their payments need not remember it.
    passengers: hold ? 1 : 1 + (number % 3),
    hold,
  };
  return {
    name: request.key,
    send: (server) => book(server, request),
    outcome: ({ body }) => String(at(body, "bookingId")),
  };
}

/** The payment of a hold, which can be cancelled then. */
function payment(bookingId: string, cancellable: string[]): Ask {
  const about = ["payment_intent.succeeded", bookingId, 49_950] as const;
  return {
    name: `payment_processor:evt_${about.join("_")}`,
    send: (server) => deliverPayment(server, ...about),
    outcome({ body }) {
      if (at(body, "status") === "accepted") cancellable.push(bookingId);
      return String(at(body, "id"));
    },
  };
}

function cancellation(bookingId: string): Ask {
  return {
    name: `cancellation of ${bookingId}`,
    send: (server) => cancel(server, bookingId),
    outcome: ({ body }) => String(at(body, "cancelledAt")),
  };
}

/** The outcomes in the database, by request name. */
async function outcomesIn(world: World): Promise<ReadonlyMap<string, string>> {
  const rows = await world.left(
    `select idempotency_key as name, id_of('evt', position, tail) as outcome from events where provider in ('task_tracker', 'payment_processor')
     union all select key, resource_id from idempotency
     union all select 'cancellation of ' || id, cast(cancelled_at as text) from bookings
     where status = 'cancelled'`,
  );
  return new Map(
    rows.map(({ name, outcome }) => {
      const isTime = String(name).startsWith("cancellation");
      return [String(name), isTime ? new Date(Number(outcome)).toISOString() : String(outcome)];
    }),
  );
}
