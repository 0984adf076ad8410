import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Outbox } from "../../outbound/deliveries/outbox.ts";
import type { Log } from "../../telemetry/log.ts";
import { bookingEventWrites, type EventMaking, ownEvent } from "../events/own-events.ts";
import { transitions } from "../model/booking-state.ts";
import { type BookingOnFlight, bookingsByIds, expireHold } from "../model/bookings.sql.ts";
import type { Flight } from "../model/flight.ts";
import type { EndExpired } from "../seats/hold-expiry.ts";
import { releaseWrites } from "../seats/holding.ts";

interface Parts extends EventMaking {
  readonly storage: Storage;
  readonly outbox: Outbox;
  readonly log: Log;
  readonly seatsChanged: (flightId: Flight["id"]) => void;
}

/** Ends bookings that were not paid in time. */
export const endExpiredHolds =
  (parts: Parts): EndExpired =>
  async (ids, now) => {
    const bookings = await parts.storage.all(bookingsByIds, { ids, userId: null });
    return Promise.all(bookings.map((booking) => endHold(parts, booking, now)));
  };

/** Ends one hold. Returns false if it was paid, cancelled or expired by another process. */
async function endHold(parts: Parts, booking: BookingOnFlight, now: Date): Promise<boolean> {
  const { storage, outbox, log, seatsChanged } = parts;
  const { id, flightId } = booking;
  const event = ownEvent(transitions.expire.event, [booking], null, parts, now);
  const [expired] = await storage.atomically(
    write(expireHold, { ...booking, updatedAt: now, expiredAt: now }, "stop"),
    ...releaseWrites({ bookingId: id, purpose: "booking", flightId }),
    ...bookingEventWrites(outbox, event, booking.userId),
  );
  if (expired.changes === 0) return false;
  log.info({ id, reference: booking.reference }, "hold expired");
  outbox.committed(event);
  seatsChanged(flightId);
  return true;
}
