import { equal, ok } from "node:assert/strict";

import { keyOf } from "../../support/load.ts";
import { type Answer, book, cancel, deliver, type Server } from "./requests.ts";
import type { CrashService } from "./service.ts";

/** A request that is repeated until it is answered. */
interface Ask {
  /** Unique. */
  readonly name: string;
  readonly send: (server: Server) => Promise<Answer | null>;
  /** The outcome, read from the response; it must never change. */
  readonly outcome: (answer: Answer) => string;
}

const workers = 12;
/** The delay before a client retries. */
const pauseMs = 20;
/** Of ten requests, one is a cancellation and two are bookings; the others are deliveries. */
const cancelShare = 0.1;
const bookShare = 0.2;

/** Seats of the booked flights; the last flight sells out quickly. */
export const ledgerSeats = [1_000, 1_000, 1_000, 25];

/** Records requests and responses, and thereby what must be in the database. */
export class Ledger {
  readonly #acknowledged = new Map<Ask, string>();
  readonly #refused = new Set<Ask>();
  #unanswered = new Set<Ask>();
  /** Outcomes that were once in the database, which must never disappear. */
  #found: ReadonlyMap<string, string> = new Map();
  readonly #cancellable: string[] = [];
  readonly #tolerated: ReadonlySet<number>;
  readonly #onAcknowledged: () => void;
  #last = 0;

  /** `tolerated`: statuses with an unknown outcome, treated like a missing response. */
  constructor(tolerated: readonly number[] = [], onAcknowledged: () => void = () => {}) {
    this.#tolerated = new Set(tolerated);
    this.#onAcknowledged = onAcknowledged;
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
    await Promise.all(Array.from({ length: workers }, work));
  }

  /** Sends requests until the end, even if some are not answered. */
  async loadUntil(server: Server, isOver: () => boolean): Promise<void> {
    const work = async () => {
      while (!isOver()) {
        if (!(await this.#ask(server, this.#next()))) await Bun.sleep(pauseMs);
      }
    };
    await Promise.all(Array.from({ length: workers }, work));
  }

  /** Repeats the unanswered requests. */
  async retry(server: Server): Promise<void> {
    const again = [...this.#unanswered];
    this.#unanswered = new Set();
    await Promise.all(again.map((ask) => this.#ask(server, ask)));
    equal(this.unanswered, 0, "A retry was not answered");
  }

  /** Compares with the database of a dead process. Returns how many unanswered requests it had committed. */
  async compare(service: Pick<CrashService, "left">): Promise<number> {
    const found = await outcomesIn(service);
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
    const given = await ask.send(server);
    const answer = given === null || this.#tolerated.has(given.status) ? null : given;
    if (answer === null) this.#unanswered.add(ask);
    else if (answer.body["code"] === "no-seats") this.#refused.add(ask);
    else {
      ok(answer.status === 200 || answer.status === 201, JSON.stringify(answer.body));
      const outcome = ask.outcome(answer);
      // Committed by a process that died before its response.
      equal(this.#found.get(ask.name) ?? outcome, outcome, `${ask.name} was made again`);
      this.#acknowledged.set(ask, outcome);
      this.#onAcknowledged();
      if (answer.body["status"] === "confirmed") this.#cancellable.push(outcome);
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
    return dice < cancelShare + bookShare ? booking(this.#last) : webhook(this.#last);
  }
}

function webhook(number: number): Ask {
  return {
    name: keyOf(number),
    send: (server) => deliver(server, number),
    outcome: ({ body }) => String(body["id"]),
  };
}

function booking(number: number): Ask {
  const request = {
    key: `key-${number}`,
    flightId: 1 + (number % 2),
    passengers: 1 + (number % 3),
  };
  return {
    name: request.key,
    send: (server) => book(server, request),
    outcome: ({ body }) => String(body["bookingId"]),
  };
}

function cancellation(bookingId: string): Ask {
  return {
    name: `cancellation of ${bookingId}`,
    send: (server) => cancel(server, bookingId),
    outcome: ({ body }) => String(body["cancelledAt"]),
  };
}

/** The outcomes in the database, by request name. */
async function outcomesIn(
  service: Pick<CrashService, "left">,
): Promise<ReadonlyMap<string, string>> {
  const rows = await service.left(
    `select idempotency_key as name, id as outcome from events where provider = 'task_tracker'
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
