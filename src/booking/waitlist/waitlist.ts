import { type Context, isAdmin } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import type { Page, PageRequest } from "../../base/page.ts";
import { instantIn, invalidParameter } from "../../base/parameters.ts";
import { paginate } from "../../db/paginate.ts";
import { write } from "../../db/statement.ts";
import {
  type Creation,
  type KeyedRequest,
  once,
  reserveKey,
} from "../../identity/idempotency/idempotent.ts";
import { closesAfter, closesAt, type Flight, isOnSale } from "../flight.ts";
import { flightView } from "../flights/flight-view.ts";
import { flightById } from "../flights/flights.sql.ts";
import { seatsForSale } from "../flights/for-sale.ts";
import type { WaitlistEntry } from "../waitlist-entry.ts";

import type { Line, LineParts } from "./line.ts";
import {
  readWaitlistRequest,
  type WaitlistEntryView,
  type WaitlistFilters,
} from "./waitlist.schema.ts";
import {
  endEntry,
  entriesByIds,
  type EntryOnFlight,
  hasRoom,
  joinLine,
  openEntryOf,
  waitingBefore,
  waitlistPages,
} from "./waitlist.sql.ts";

/** Users see and end their own entries, admins all. */
export interface Waitlist {
  /**
   * Joins the end of the line for seats on a flight that has too few. With a key, retries return the original entry
   * (`replayed`). Throws `invalid-body`, `validation-failed`, `flight-not-found`, `booking-closed`, `seats-available`,
   * `already-waiting`, `idempotency-key-reused`.
   */
  join(ctx: Context, body: unknown, key: string | null): Promise<Creation<WaitlistEntryView>>;
  /** Throws `not-found`. */
  read(ctx: Context, id: string): Promise<WaitlistEntryView>;
  /** The entries among `ids` that the caller may read, in any order. */
  find(ctx: Context, ids: readonly string[]): Promise<readonly WaitlistEntryView[]>;
  /** Newest first. Throws `invalid-parameter`. */
  list(
    ctx: Context,
    request: PageRequest,
    filters: WaitlistFilters,
  ): Promise<Page<WaitlistEntryView>>;
  /**
   * Leaves the line, and gives the seats of an offer to who is next. An entry that has ended stays as it is. Throws
   * `not-found`.
   */
  leave(ctx: Context, id: string): Promise<WaitlistEntryView>;
}

interface Parts extends LineParts {
  readonly line: Line;
  /** Keys for the hashes of requests. */
  readonly hashKeys: () => KeyedRequest["hashKeys"];
  readonly seatsChanged: (flightId: Flight["id"]) => void;
}

/** The most open entries of a user. */
const maxOpenEntries = 10;
/** Attempts to join or leave a line that others change. */
const maxAttempts = 5;

const notJoined = new AppError("internal", "The entry was not stored");
const tooManyEntries = new AppError(
  "validation-failed",
  `You already wait for ${maxOpenEntries} flights. Leave one of their waiting lists first.`,
);

export function waitlist(parts: Parts): Waitlist {
  const { storage, clock, makeId, line } = parts;

  async function findOwn(ctx: Context, ids: readonly string[]): Promise<EntryOnFlight[]> {
    const own = ids.filter(isEntryId);
    const userId = isAdmin(ctx) ? null : ctx.actor.id;
    return own.length === 0 ? [] : storage.all(entriesByIds, { ids: own, userId });
  }

  async function shown(entries: readonly EntryOnFlight[]): Promise<WaitlistEntryView[]> {
    const ids = entries.filter(({ status }) => status === "waiting").map(({ id }) => id);
    const now = new Date(clock.now());
    const waiting = ids.length === 0 ? [] : await storage.all(waitingBefore, { ids, now });
    const before = new Map(waiting.map((each) => [each.id, each.before]));
    return entries.map((entry) => entryView(entry, before.get(entry.id) ?? null));
  }

  async function find(ctx: Context, ids: readonly string[]): Promise<WaitlistEntryView[]> {
    return shown(await findOwn(ctx, ids));
  }

  async function read(ctx: Context, id: string): Promise<WaitlistEntryView> {
    const [entry] = await find(ctx, [id]);
    if (entry === undefined) throw notFound();
    return entry;
  }

  async function store(entry: Omit<WaitlistEntry, "place">, keyed: KeyedRequest | null, now: Date) {
    const { id, userId, flightId, seats } = entry;
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      try {
        await storage.atomically(
          write(joinLine, { ...entry, closesAfter: closesAfter(now) }, notJoined),
          write(hasRoom, { id, userId, limit: maxOpenEntries }, tooManyEntries),
          ...(keyed === null ? [] : reserveKey(keyed, id)),
        );
        return;
      } catch (error) {
        if (error !== notJoined) throw error;
        const [open] = await storage.all(openEntryOf, { userId, flightId });
        if (open !== undefined) throw alreadyWaiting(open.id);
        const seatsAvailable = await seatsForSale(storage, flightId, now);
        if (seatsAvailable >= seats) throw seatsAreAvailable(seatsAvailable);
      }
    }
    throw tooManyRivals();
  }

  return {
    async join(ctx, body, key) {
      const now = new Date(clock.now());
      const input = readWaitlistRequest(body, now);
      const { actor } = ctx;
      const keyed =
        key === null
          ? null
          : { actor, operation: "waitlist" as const, key, input, hashKeys: parts.hashKeys(), now };
      const join = async () => {
        const { flightId, seats } = input;
        const [flight] = await storage.all(flightById, { id: flightId });
        requireJoinable(flight, seats, now);
        const id = makeId("wl", now.getTime());
        const latest = closesAt(flight.departureTime);
        const until = input.until === undefined ? null : instantIn(input.until);
        const entry = {
          id,
          userId: actor.id,
          flightId,
          seats,
          status: "waiting",
          until: until !== null && until < latest ? until : latest,
          createdAt: now,
          updatedAt: now,
          offeredAt: null,
          offerExpiresAt: null,
        } as const;
        await store(entry, keyed, now);
        return read(ctx, id);
      };
      return once(storage, keyed, join, (id) => read(ctx, id));
    },
    read,
    find,
    async list(ctx, request, { flightId, status }) {
      if (flightId !== undefined && !/^\d+$/.test(flightId)) {
        throw invalidParameter("flightId", "Must be a whole number");
      }
      const own = isAdmin(ctx) ? {} : { userId: ctx.actor.id };
      const page = await paginate(waitlistPages(storage, { ...own, flightId, status }), request);
      return { ...page, data: await shown(page.data) };
    },
    async leave(ctx, id) {
      for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
        const [entry] = await findOwn(ctx, [id]);
        if (entry === undefined) throw notFound();
        const { status: before, flightId } = entry;
        if (before !== "waiting" && before !== "offered") {
          await storage.settled();
          return read(ctx, id);
        }
        const updatedAt = new Date(clock.now());
        const end = write(endEntry, { ...entry, before, status: "left", updatedAt }, "stop");
        const [left] =
          before === "waiting"
            ? await storage.atomically(end)
            : await line.freeing(entry, (back) => storage.atomically(end, ...back));
        if (left.changes === 0) continue;
        if (before === "offered") parts.seatsChanged(flightId);
        return read(ctx, id);
      }
      throw tooManyRivals();
    },
  };
}

function requireJoinable(
  flight: Flight | undefined,
  seats: number,
  now: Date,
): asserts flight is Flight {
  if (flight === undefined) throw new AppError("flight-not-found", "No flight has this id");
  if (!isOnSale(flight, now)) {
    throw new AppError(
      "booking-closed",
      "Sales for this flight have ended. It takes no more entries.",
    );
  }
  if (seats <= flight.seats) return;
  const detail = `The flight has only ${flight.seats} seats`;
  const errors = [{ pointer: "/seats", code: "rule-broken", detail }];
  throw new AppError("validation-failed", `/seats: ${detail}`, { errors });
}

function entryView(entry: EntryOnFlight, before: number | null): WaitlistEntryView {
  const { id, flight, userId, seats, status, until, createdAt, updatedAt } = entry;
  const { offeredAt, offerExpiresAt } = entry;
  return {
    id,
    entryId: id,
    flight: flightView(flight),
    userId,
    seats,
    status,
    position: before === null ? null : before + 1,
    until,
    createdAt,
    updatedAt,
    offeredAt,
    offerExpiresAt,
  };
}

function isEntryId(id: string): id is WaitlistEntry["id"] {
  return id.startsWith("wl_");
}

function notFound(): AppError {
  return new AppError("not-found", "No waiting list entry has this id");
}

function alreadyWaiting(id: WaitlistEntry["id"]): AppError {
  return new AppError("already-waiting", `Your entry ${id} is on this flight's waiting list`);
}

function seatsAreAvailable(seatsAvailable: number): AppError {
  const detail = "The flight has enough seats for sale. Book them.";
  return new AppError("seats-available", detail, { seatsAvailable });
}

function tooManyRivals(): AppError {
  const detail = "Many bookings and cancellations compete for these seats. Try again.";
  return new AppError("unavailable", detail, { retryAfterSeconds: 1 });
}
