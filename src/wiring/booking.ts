import type { KeyRing } from "../base/sealing.ts";
import { type Bookings, bookings } from "../booking/bookings/bookings.ts";
import { holdExpiry } from "../booking/bookings/hold-expiry.ts";
import { nameFolding } from "../booking/bookings/name-folding.ts";
import { paymentEffects } from "../booking/bookings/payment-effects.ts";
import { makeReference } from "../booking/bookings/reference.ts";
import { type FlightLoads, flightLoads } from "../booking/flights/flight-load.ts";
import { type Flights, flights } from "../booking/flights/flights.ts";
import type { Seats } from "../booking/flights/seats.ts";
import { personalDataSeal } from "../booking/personal-data/personal-data.ts";
import type { Outbox } from "../outbound/deliveries/outbox.ts";

import type { Platform } from "./platform.ts";

export interface BookingServices {
  readonly flights: Flights;
  readonly flightLoads: FlightLoads;
  readonly seats: Seats;
  readonly bookings: Bookings;
}

interface Parts {
  readonly seats: Seats;
  readonly outbox: Outbox;
  /** Keys for the hashes of requests. */
  readonly hashKeys: () => KeyRing;
}

/** Flights, bookings and what payments change of them. */
export function bookingServices(platform: Platform, { seats, outbox, hashKeys }: Parts) {
  const { config, storage, clock, log, tracer, makeId, keys } = platform;
  const seatsChanged = (flightId: number) => seats.changed(flightId);
  const expiring = holdExpiry({ storage, outbox, clock, log, makeId, seatsChanged });
  const folding = nameFolding({ storage, clock, log });
  const testMode = config.paymentProcessorTestMode;
  const payments = paymentEffects({
    storage,
    outbox,
    clock,
    log,
    makeId,
    testMode,
    seatsChanged,
  });
  const services: BookingServices = {
    flights: flights(storage, clock),
    flightLoads: flightLoads(storage),
    seats,
    bookings: bookings({
      storage,
      outbox,
      tracer,
      seal: personalDataSeal(keys),
      hashKeys,
      refundPolicy: {
        freeWithinHours: config.refundFreeWithinHours,
        freeBeforeDays: config.refundFreeBeforeDays,
        tiers: config.refundSteps,
      },
      clock,
      makeId,
      makeReference,
      holdMs: config.holdMinutes * 60_000,
      seatsChanged,
      held: () => expiring.wake(),
    }),
  };
  return {
    services,
    /** What an event about a payment changes. */
    effectOf: payments.effectOf,
    start() {
      seats.start();
      expiring.start();
      folding.start();
      payments.start();
    },
    /** Ends the streams. */
    close: () => seats.close(),
    async stop() {
      await Promise.all([expiring.stop(), folding.stop(), payments.stop()]);
    },
  };
}
