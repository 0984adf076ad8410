import type { Clock } from "../../base/clock.ts";
import type { Context } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import { invalid } from "../../base/validation.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Audit } from "../../identity/audit/audit.ts";
import { changedMeanwhile, retryIfChanged } from "../../inbound/receive/effects.ts";
import type { Outbox } from "../../outbound/deliveries/outbox.ts";
import { openedPassenger } from "../bookings/booking-details.ts";
import { normalizedPassenger, readCorrection } from "../bookings/booking-request.ts";
import { passengerView } from "../bookings/booking-view.ts";
import type { PassengerView } from "../bookings/booking.schema.ts";
import { storedFolding } from "../bookings/name-folding.ts";
import { ownBooking, requireOpen } from "../bookings/own-booking.ts";
import { bookingEventWrites, type EventMaking, ownEvent } from "../events/own-events.ts";
import { passengersOf } from "../personal-data/personal-data.sql.ts";
import type { PersonalDataSeal } from "../personal-data/personal-data.ts";

import { correctPassenger } from "./changes.sql.ts";

/** The limit of corrections of a passenger, so that a seat cannot be passed on again and again. */
const maxCorrections = 5;

export interface Corrections {
  /**
   * Corrects fields of a passenger before departure, with an event and an audit entry that name the fields, not the values. Throws
   * `booking-not-found`, `not-found`, `not-cancellable`, `booking-closed`, `validation-failed`, and `unavailable` if the key of the
   * passenger's data is missing.
   */
  correct(ctx: Context, bookingId: string, position: string, body: unknown): Promise<PassengerView>;
}

interface Parts extends EventMaking {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly seal: PersonalDataSeal;
  readonly audit: Audit;
  readonly outbox: Outbox;
}

export function corrections(parts: Parts): Corrections {
  const { storage, clock, seal, audit, outbox } = parts;
  return {
    correct: (...request) => retryIfChanged(() => correct(...request)),
  };

  async function correct(
    ctx: Context,
    id: string,
    position: string,
    body: unknown,
  ): Promise<PassengerView> {
    const now = new Date(clock.now());
    const booking = await ownBooking(storage, ctx, id);
    const correction = readCorrection(body, now);
    requireOpen(booking, now);
    const passengers = await storage.all(passengersOf, { bookingId: booking.id });
    const passenger = passengers.find((each) => String(each.position) === position);
    if (passenger === undefined || passenger.cancelledAt !== null) {
      throw new AppError("not-found", "The booking has no such passenger");
    }
    if (passenger.corrections >= maxCorrections) {
      const detail = `A passenger can be corrected ${maxCorrections} times`;
      throw new AppError("validation-failed", detail);
    }
    const before = openedPassenger(seal, passenger);
    const after = normalizedPassenger({ ...before, ...correction });
    const others = passengers
      .filter((each) => each !== passenger && each.cancelledAt === null)
      .map((each) => openedPassenger(seal, each).passportNumber);
    if (others.includes(after.passportNumber)) {
      throw invalid("/passportNumber", "Another passenger has the same passport number");
    }
    const { dateOfBirth, passportNumber, ...named } = after;
    const changed = ["firstName", "lastName", "email", "dateOfBirth", "passportNumber"] as const;
    const fields = changed.filter((name) => before[name] !== after[name]);
    if (fields.length === 0) return passengerView(before);
    const stored = {
      ...passenger,
      ...named,
      lastNameFolded: storedFolding(named.lastName),
      sealed: seal.seal(passenger, { dateOfBirth, passportNumber }),
    };
    const detail = `passenger ${position}: ${fields.join(", ")}`;
    const input = [booking, passenger, fields] as const;
    const event = ownEvent("booking.corrected", input, ctx.actor, parts, now);
    await storage.atomically(
      write(correctPassenger, stored, changedMeanwhile),
      ...bookingEventWrites(outbox, event, booking.userId),
      audit.entry(ctx, "booking.corrected", booking.id, detail),
    );
    outbox.committed(event);
    return passengerView({ ...stored, dateOfBirth, passportNumber });
  }
}
