import { urlHere } from "../base/loopback.ts";
import type { KeyRing } from "../base/sealing.ts";
import { bookings } from "../booking/bookings/bookings.ts";
import { endExpiredHolds } from "../booking/bookings/expired-holds.ts";
import { makeReference } from "../booking/bookings/sale.ts";
import { bookingHooks } from "../booking/changes/booking-hooks.ts";
import { changes } from "../booking/changes/changes.ts";
import { corrections } from "../booking/changes/corrections.ts";
import { endExpiredOffers } from "../booking/changes/ended-offers.ts";
import { flightLoads } from "../booking/flights/flight-load.ts";
import { flights } from "../booking/flights/flights.ts";
import type { FreeSeats } from "../booking/flights/free-seats.ts";
import { flightChangeSending } from "../booking/flights/import/flight-change-sending.ts";
import { paymentEffects } from "../booking/payments/payment-effects.ts";
import { personalDataSeal } from "../booking/personal-data/personal-data.ts";
import type { BookingServices } from "../booking/room.rest.ts";
import { holdExpiry } from "../booking/seats/hold-expiry.ts";
import type { Audit } from "../identity/audit/audit.ts";
import type { Outbox } from "../outbound/deliveries/outbox.ts";

import type { Platform } from "./platform.ts";

interface Parts {
  readonly seats: FreeSeats;
  readonly outbox: Outbox;
  readonly audit: Audit;
  /** Keys for the hashes of requests. */
  readonly hashKeys: () => KeyRing;
}

/** Flights, bookings and what payments change of them. */
export function bookingServices(platform: Platform, { seats, outbox, audit, hashKeys }: Parts) {
  const { config, storage, clock, log, tracer, makeId, keys } = platform;
  const consoleUrl = `${config.publicUrl ?? urlHere(config.host, config.port)}/console`;
  const seatsChanged = (flightId: number) => seats.changed(flightId);
  const changesOfBookings = bookingHooks({ storage, outbox, consoleUrl });
  const ending = { storage, outbox, log, consoleUrl, seatsChanged };
  const expiring = holdExpiry({
    storage,
    clock,
    log,
    ending: { booking: endExpiredHolds(ending), change: endExpiredOffers(ending) },
  });
  const sending = flightChangeSending({ storage, outbox, clock, log });
  const testMode = config.paymentProcessorTestMode;
  const payments = paymentEffects({
    storage,
    outbox,
    clock,
    log,
    consoleUrl,
    changes: changesOfBookings,
    testMode,
    seatsChanged,
  });
  const freely = {
    freeWithinHours: config.refundFreeWithinHours,
    freeBeforeDays: config.refundFreeBeforeDays,
  };
  const refundPolicy = { ...freely, tiers: config.refundSteps };
  const changePolicy = { ...freely, tiers: config.changeSteps };
  const holdMs = config.holdMinutes * 60_000;
  const held = () => expiring.wake();
  const making = { makeId, consoleUrl };
  const common = {
    storage,
    outbox,
    clock,
    ...making,
    changes: changesOfBookings,
    refundPolicy,
    holdMs,
    seatsChanged,
    held,
  };
  const seal = personalDataSeal(keys);
  const services: BookingServices = {
    changes: changes({ ...common, changePolicy }),
    flights: flights(storage, clock),
    flightLoads: flightLoads(storage),
    seats,
    bookings: bookings({ ...common, audit, tracer, seal, hashKeys, makeReference }),
    corrections: corrections({ storage, outbox, clock, ...making, seal, audit }),
  };
  return {
    services,
    /** What an event about a payment changes. */
    effectOf: payments.effectOf,
    start() {
      seats.start();
      expiring.start();
      sending.start();
      payments.start();
    },
    /** Ends the streams. */
    close: () => seats.close(),
    async stop() {
      await Promise.all([expiring.stop(), sending.stop(), payments.stop()]);
    },
  };
}
