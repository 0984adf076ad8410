import { systemClock } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import { moneyOf, moneyText } from "../base/money.ts";
import { readHistory } from "../booking/bookings/booking-history.ts";
import { findBooking } from "../booking/bookings/booking-search.ts";
import { bookingSummary } from "../booking/bookings/booking-view.ts";
import type { BookingOnFlight } from "../booking/bookings/bookings.sql.ts";
import { changeTitle } from "../booking/bookings/change-event.ts";
import { openChangeOf } from "../booking/bookings/changes.sql.ts";
import { type MoneyView, moneyView } from "../booking/bookings/payment-view.ts";
import { paymentsOfBookings } from "../booking/bookings/payments.sql.ts";
import { flightsByIds } from "../booking/flights/flights.sql.ts";
import { passengersOf } from "../booking/personal-data/personal-data.sql.ts";
import { readConfig } from "../config/config.ts";
import type { Storage } from "../db/storage.ts";

import { useDatabase } from "./database.ts";
import { table } from "./output.ts";

/** `skyhook booking show`: prints the state of a booking and its history, without personal data. */
export async function show(named: string, env: NodeJS.ProcessEnv): Promise<void> {
  await useDatabase(readConfig(env), async (storage) => {
    const booking = await findBooking(storage, named);
    if (booking === undefined) {
      throw new AppError("booking-not-found", "No booking has this id or reference");
    }
    const [records, history, passengers, offer] = await Promise.all([
      storage.all(paymentsOfBookings, { ids: [booking.id] }),
      readHistory(storage, booking),
      storage.all(passengersOf, { bookingId: booking.id }),
      openOffer(storage, booking),
    ]);
    const cancelled = passengers.filter(({ cancelledAt }) => cancelledAt !== null).length;
    const facts = [...factsOf(booking, moneyView(booking, records), cancelled), ...offer];
    console.log(table(facts));
    const rows = history.map(({ at, type, title, eventId, webhook }) => [
      at.toISOString(),
      type,
      webhook?.deleted === true
        ? `${webhook.eventId} (deleted)`
        : (webhook?.eventId ?? eventId ?? "-"),
      title,
    ]);
    console.log(`\n${table([["time", "type", "event", "what"], ...rows])}`);
  });
}

function factsOf(
  booking: BookingOnFlight,
  { payments, refund }: MoneyView,
  cancelled: number,
): readonly (readonly string[])[] {
  const { id, reference, flight, seats, totalMinor, currency, expiresAt } = booking;
  const { status } = bookingSummary(booking, new Date(systemClock.now()));
  const paid = payments.find((payment) => payment.status === "confirmed");
  const until = status === "held" && expiresAt !== null ? ` until ${expiresAt.toISOString()}` : "";
  const text = (amount: number) => moneyText({ amount, currency });
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["booking", `${id} (${reference})`],
    ["status", `${status}${until}`],
    [
      "flight",
      `${flight.flightNumber} ${flight.origin} → ${flight.destination}, ${flight.departureTime.toISOString()}, ${flight.cabinClass}`,
    ],
    [
      "price",
      `${moneyText(moneyOf(totalMinor, currency))}, ${seats === 1 ? "1 seat" : `${seats} seats`}`,
    ],
    ["cancelled", cancelled === 0 ? undefined : passengersText(cancelled)],
    ["paid", paid && `${text(paid.amount ?? 0)} by ${paid.provider}`],
    ["refund", refund === null ? undefined : refundText(refund, text)],
  ];
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
}

const passengersText = (count: number) => (count === 1 ? "1 passenger" : `${count} passengers`);

/** The open offer to change a booking: what it changes, its price and its end. */
async function openOffer(
  storage: Storage,
  { id, flight }: BookingOnFlight,
): Promise<readonly (readonly string[])[]> {
  const [offer] = await storage.all(openChangeOf, { bookingId: id });
  if (offer === undefined) return [];
  const ids = offer.newFlightId === null ? [] : [offer.newFlightId];
  const [newFlight = flight] = ids.length === 0 ? [] : await storage.all(flightsByIds, { ids });
  const { seats, changeTotalMinor: total, currency, status, expiresAt } = offer;
  const what =
    offer.newFlightId === null
      ? `cancel ${passengersText(seats)}`
      : changeTitle(offer, flight, newFlight);
  const amount = moneyText(moneyOf(Math.abs(total), currency));
  const balance = total === 0 ? "" : `; ${amount} ${total < 0 ? "to refund" : "to pay"}`;
  return [["offer", `${what}${balance}; ${status} until ${expiresAt.toISOString()}`]];
}

/** `USD 100.00 of USD 499.50, partial`, or `USD 100.00, none was due`. */
function refundText(
  { refunded, amount, status }: NonNullable<MoneyView["refund"]>,
  text: (amount: number) => string,
): string {
  if (amount === 0) return `${text(refunded)}, none was due`;
  return `${text(refunded)} of ${text(amount)}, ${status}`;
}
