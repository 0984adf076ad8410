import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { MakeId } from "../../base/ids.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { StoredEvent } from "../../event/event.ts";
import { insertEvent } from "../../event/events.sql.ts";
import type { Outbox } from "../../outbound/deliveries/outbox.ts";
import { closesAfter, closesAt, type Flight } from "../flight.ts";
import { giveSeatsBack, takeOfferedSeatsAt, takeSeatsAt } from "../flights/flights.sql.ts";
import type { WaitlistEntry } from "../waitlist-entry.ts";

import { waitlistEvent, waitlistNotification } from "./waitlist-event.ts";
import {
  endEntry,
  type EntryOnFlight,
  fittingInLine,
  offerSeats,
  openEntryOf,
  takeForOffers,
} from "./waitlist.sql.ts";

/** The line of those who wait for seats on a flight. Whoever frees or takes seats uses it, so that nobody jumps it. */
export interface Line {
  /**
   * Commits a transaction that frees seats, and offers them to who is first in line in the same transaction. `commit` runs
   * it with `givenBack`, the writes that give the seats back; it runs again if others changed the line or the seats
   * first, so it must do nothing else. If they keep doing so, the background task makes the offers.
   */
  freeing<Result>(
    freed: { readonly flightId: Flight["id"]; readonly seats: number },
    commit: (givenBack: readonly Write<unknown>[]) => Promise<Result>,
  ): Promise<Result>;
  /** The open offer of a user for a flight; null if there is none. */
  offerTo(
    userId: WaitlistEntry["userId"],
    flightId: Flight["id"],
    now: Date,
  ): Promise<WaitlistEntry | null>;
  /** Looks for offers to make and to end. Call it after a commit that may have left some out. */
  wake(): void;
}

export interface LineParts {
  readonly storage: Storage;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly makeId: MakeId;
  /** How long an offer holds its seats. */
  readonly offerMs: number;
}

/** Attempts to free seats together with offers. */
const maxAttempts = 3;
/** The most offers of one transaction. The background task makes more. */
const maxOffers = 20;

const lineChanged = new AppError("internal", "The line has changed");

export function line(parts: LineParts & { readonly wake: () => void }): Line {
  const { storage, wake } = parts;
  return {
    async freeing({ flightId, seats }, commit) {
      const back = write(giveSeatsBack, { id: flightId, seats });
      for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
        const { writes, committed } = await offersOf(parts, flightId, seats);
        try {
          const result = await commit([back, ...writes]);
          committed();
          return result;
        } catch (error) {
          if (error !== lineChanged) throw error;
        }
      }
      const result = await commit([back]);
      wake();
      return result;
    },
    async offerTo(userId, flightId, now) {
      const [entry] = await storage.all(openEntryOf, { userId, flightId });
      const ends = entry?.offerExpiresAt ?? now;
      return entry !== undefined && ends > now ? entry : null;
    },
    wake,
  };
}

/** The writes that offer the free seats of a flight and `freed` more. They throw `lineChanged` if others came first. */
async function offersOf(
  { storage, outbox, clock, makeId, offerMs }: LineParts & { readonly wake: () => void },
  flightId: Flight["id"],
  freed: number,
): Promise<{ readonly writes: readonly Write<unknown>[]; readonly committed: () => void }> {
  const now = new Date(clock.now());
  const line = await storage.all(fittingInLine, {
    flightId,
    freed,
    now,
    closesAfter: closesAfter(now),
    limit: maxOffers,
  });
  const free = (line[0]?.flight.seatsAvailable ?? 0) + freed;
  const { chosen, left } = firstThatFit(line, free);
  const events: StoredEvent[] = [];
  const offers = chosen.flatMap((entry): readonly Write<unknown>[] => {
    const ends = Math.min(now.getTime() + offerMs, closesAt(entry.flight.departureTime).getTime());
    const offerExpiresAt = new Date(ends);
    const offered = { ...entry, offerExpiresAt };
    const event = waitlistEvent("waitlist.offered", offered, entry.flight, makeId, now);
    events.push(event);
    return [
      write(offerSeats, { id: entry.id, flightId, offerExpiresAt, now }, lineChanged),
      ...eventWrites(outbox, event, entry),
    ];
  });
  return {
    writes:
      offers.length === 0
        ? []
        : [write(takeForOffers, { flightId, free, left }, lineChanged), ...offers],
    committed: () => events.forEach((event) => outbox.committed(event)),
  };
}

/** Who gets an offer: in the order of the line, each that fits into what those before have left. */
export function firstThatFit<Entry extends Pick<WaitlistEntry, "seats">>(
  line: readonly Entry[],
  free: number,
): { readonly chosen: readonly Entry[]; readonly left: number } {
  const chosen: Entry[] = [];
  let left = free;
  for (const entry of line) {
    if (entry.seats > left) continue;
    chosen.push(entry);
    left -= entry.seats;
  }
  return { chosen, left };
}

/** The writes that store an event about an entry, for the owner and operators. */
export function eventWrites(
  outbox: Outbox,
  event: StoredEvent,
  { userId }: Pick<EntryOnFlight, "userId">,
): readonly Write<unknown>[] {
  return [
    write(insertEvent, event),
    ...outbox.writesFor(event, [waitlistNotification(event)], { ownerId: userId }),
  ];
}

/**
 * The writes by which a booking takes its seats: those of the user's offer first, which ends, then others for sale. They
 * throw `onNoRows` if these are taken, the offer has ended, or the flight or its price has changed. The first returns how
 * many are left.
 */
export function takingSeats(
  taking: {
    readonly flight: Flight;
    readonly seats: number;
    readonly offer: WaitlistEntry | null;
    readonly now: Date;
  },
  onNoRows: AppError,
): readonly [Write<Pick<Flight, "seatsAvailable">>, ...Write<never>[]] {
  const { flight, offer, now } = taking;
  const seats = taking.seats - (offer?.seats ?? 0);
  const take = seats > 0 ? takeSeatsAt : takeOfferedSeatsAt;
  return [
    write(take, { ...flight, seats, closesAfter: closesAfter(now) }, onNoRows),
    ...(offer === null
      ? []
      : [
          write(
            endEntry,
            { ...offer, before: "offered", status: "booked", updatedAt: now },
            onNoRows,
          ),
        ]),
  ];
}
