import type { Clock } from "../../base/clock.ts";
import { type Context, isAdmin, requireOperator } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import type { Page, PageRequest } from "../../base/page.ts";
import { paginate } from "../../db/paginate.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Booking } from "../booking.ts";
import { departed } from "../flight.ts";

import { isBookingId } from "./booking-details.ts";
import {
  acceptFlightChange,
  type CountedChange,
  flightChangePages,
  type NoticeOfBooking,
  noticesOfBookings,
} from "./flight-change-notices.sql.ts";
import { changed, flightChangeOf } from "./flight-change-notices.ts";
import {
  type BookingFlightChange,
  type FlightChangeCounts,
  readFlightChangeAnswer,
} from "./flight-change.schema.ts";

export interface FlightChanges {
  /** The changes of the flights of the bookings among `ids` that the caller may read, by booking id. */
  of(ctx: Context, ids: readonly string[]): Promise<ReadonlyMap<string, BookingFlightChange>>;
  /**
   * Accepts a change of a booking's flight. Idempotent. Throws `booking-not-found` also if its flight did not change,
   * `invalid-body`, `validation-failed` for an earlier change, and `booking-closed`.
   */
  answer(ctx: Context, id: string, body: unknown): Promise<BookingFlightChange>;
  /**
   * The changes of flights with bookings, newest first, without persons and bookings. Throws `insufficient-scope`
   * unless the caller is an operator or an admin.
   */
  list(ctx: Context, request: PageRequest): Promise<Page<FlightChangeCounts>>;
}

export function flightChanges(storage: Storage, clock: Clock): FlightChanges {
  async function noticesOf(ctx: Context, ids: readonly string[]) {
    const userId = isAdmin(ctx) ? null : ctx.actor.id;
    const found = await storage.all(noticesOfBookings, { ids: ids.filter(isBookingId), userId });
    return Map.groupBy(found, ({ bookingId }): string => bookingId);
  }

  async function find(ctx: Context, id: string): Promise<readonly NoticeOfBooking[]> {
    const found = (await noticesOf(ctx, [id])).get(id);
    if (found !== undefined) return found;
    throw new AppError("booking-not-found", "No booking with a change of its flight has this id");
  }

  return {
    async of(ctx, ids) {
      const found = await noticesOf(ctx, ids);
      return new Map(
        [...found].flatMap(([id, notices]) => {
          const change = flightChangeOf(notices);
          return change === null ? [] : [[id, change] as const];
        }),
      );
    },
    async answer(ctx, id, body) {
      const notices = await find(ctx, id);
      const { changeId } = readFlightChangeAnswer(body);
      const newest = notices.at(-1);
      if (changeId !== undefined && changeId !== newest?.changeId) throw changedAgain;
      const now = new Date(clock.now());
      if (newest && notices.some(({ status }) => status === "unanswered")) {
        requireAcceptable(newest, now);
        const { bookingId } = newest;
        const answer = { answeredAt: now, answeredBy: ctx.actor.id };
        await storage.atomically(
          write(acceptFlightChange, { bookingId, upTo: newest.changeId, ...answer }),
        );
      } else await storage.settled();
      const change = flightChangeOf(await find(ctx, id));
      if (change === null) throw new Error(`Booking ${id} has no change of its flight`);
      if (change.status === "cancelled" || change.status === "changed") {
        throw new AppError("booking-closed", `The booking was ${change.status} instead`);
      }
      return change;
    },
    async list(ctx, request) {
      requireOperator(ctx);
      const page = await paginate(flightChangePages(storage, { booked: "" }), request);
      return { ...page, data: page.data.map(counted) };
    },
  };
}

function counted(change: CountedChange): FlightChangeCounts {
  const { flightId, flightNumber, cabinClass, bookings, notified, unanswered, accepted } = change;
  const flight = { flightId, flightNumber, cabinClass };
  return { ...changed(change), ...flight, bookings, notified, unanswered, accepted };
}

const againDetail = "The flight has changed again. Read the booking, and answer the newest change.";
const changedAgain = new AppError("validation-failed", againDetail, {
  errors: [{ pointer: "/changeId", code: "validation-failed", detail: againDetail }],
});

const liveStatuses: readonly Booking["status"][] = ["held", "confirmed"];

function requireAcceptable({ change, booking, flight }: NoticeOfBooking, now: Date): void {
  const detail =
    change.type === "flight.cancelled"
      ? "The airline cancelled the flight. Cancel the booking for a full refund."
      : !liveStatuses.includes(booking.status)
        ? `The booking is ${booking.status}`
        : departed(flight, now)
          ? "The flight has departed"
          : null;
  if (detail !== null) throw new AppError("booking-closed", detail);
}
