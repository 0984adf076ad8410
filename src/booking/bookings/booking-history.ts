import { placeIn, positionIn } from "../../base/ids.ts";
import { moneyOf, moneyText } from "../../base/money.ts";
import type { Storage } from "../../db/storage.ts";
import type { Event } from "../../event/event.ts";
import { eventsAt, eventsByKeys } from "../../event/events.sql.ts";
import type { Notification } from "../../outbound/model/notification.ts";
import { notificationsOfEvents } from "../../outbound/model/notifications.sql.ts";
import { flightChangeKey, flightChangeText } from "../events/event-content.ts";
import { bookingEventTypes, type OwnEventType, paymentProblems } from "../events/event-types.ts";
import { bookingEventKey, correctionKeys } from "../events/own-events.ts";
import { isFlightChanged } from "../model/booking-state.ts";
import { bookingsProvider } from "../model/booking-words.ts";
import type { Booking } from "../model/booking.ts";
import type { BookingOnFlight } from "../model/bookings.sql.ts";
import type { ChangeHistory, ChangesOfBookings } from "../model/changes-of-bookings.ts";
import { seatsText } from "../model/flight.ts";
import type { Payment, PaymentOutcome } from "../model/payment.ts";
import { paymentsOf } from "../payments/payment-view.ts";
import type { Disclosure } from "../personal-data/disclosure.ts";
import { disclosuresOf, passengersOf } from "../personal-data/personal-data.sql.ts";

import type { HistoryEntry, Webhook } from "./booking.schema.ts";

/** The stored records that belong to a booking. */
interface BookingRecords {
  readonly events: readonly Event[];
  readonly notifications: readonly Notification[];
  readonly disclosures: readonly Disclosure[];
  readonly payments: readonly Payment[];
  readonly changes: ChangeHistory;
  /** The ids of the payments' events that retention has not deleted. */
  readonly kept: ReadonlySet<Event["id"]>;
}

interface HistoryParts {
  readonly storage: Storage;
  readonly changes: Pick<ChangesOfBookings, "history">;
}

/** Returns a booking's history, oldest first. Entries remain after retention has deleted their events. */
export async function readHistory(
  { storage, changes: { history } }: HistoryParts,
  booking: BookingOnFlight,
): Promise<readonly HistoryEntry[]> {
  const { id } = booking;
  const [payments, changes, passengers] = await Promise.all([
    paymentsOf(storage, booking),
    history(booking),
    storage.all(passengersOf, { bookingId: id }),
  ]);
  const keys = [
    ...bookingEventTypes.map((type) => bookingEventKey(type, id)),
    ...payments.flatMap(({ eventId }) => keysCausedBy(eventId, id)),
    flightChangeKey(booking.flight),
    ...changes.made.map(({ key }) => key),
    ...correctionKeys(id, passengers),
  ];
  const [own, reports, disclosures] = await Promise.all([
    storage.all(eventsByKeys, { keys }),
    payments.length === 0
      ? []
      : storage.all(eventsAt, {
          positions: payments.flatMap(({ eventId }) => placeIn("evt", eventId)?.position ?? []),
        }),
    storage.all(disclosuresOf, { bookingId: id }),
  ]);
  // Those about refunds that an admin recorded.
  const recorded = reports.filter(({ provider }) => provider === bookingsProvider);
  const events = [...own, ...recorded];
  const positions = events.map(({ id }) => positionIn(id));
  const notifications = await storage.all(notificationsOfEvents, { events: positions });
  const kept = new Set(reports.map((report) => report.id));
  const records = { events, notifications, disclosures, payments, changes, kept };
  return historyOf(booking, records);
}

/** Entries of the same millisecond stay in this order. */
function historyOf(booking: BookingOnFlight, records: BookingRecords): readonly HistoryEntry[] {
  const { expiredAt, confirmedAt, cancelledAt } = booking;
  const reports = records.payments.map((payment) => reported(booking, payment, records));
  const isRefund = ({ type }: HistoryEntry) => type.startsWith("refund.");
  const cancelled = "Cancelled; seats released";
  return [
    sale(booking, records),
    ...(expiredAt === null
      ? []
      : [
          byNobody(
            own(booking, records, "booking.expired", expiredAt, "Hold expired; seats released"),
          ),
        ]),
    ...reports.filter((report) => !isRefund(report)),
    ...confirmation(booking, records),
    ...changed(booking, records),
    ...(cancelledAt === null
      ? []
      : [own(booking, records, "booking.cancelled", cancelledAt, cancelled)]),
    ...(cancelledAt === null || confirmedAt === null ? [] : [refund(booking, cancelledAt)]),
    ...reports.filter(isRefund),
    ...flightChanged(booking, records),
    ...corrected(booking, records),
    ...records.disclosures.map(revealed),
  ].toSorted((one, other) => one.at.getTime() - other.at.getTime());
}

/** An entry with the booking's own event. */
function own(
  booking: Booking,
  { events, notifications }: BookingRecords,
  type: OwnEventType & HistoryEntry["type"],
  at: Date,
  title: string,
  key = bookingEventKey(type, booking.id),
): HistoryEntry {
  const event = events.find(({ idempotencyKey }) => idempotencyKey === key);
  return {
    at,
    type,
    title,
    actor: event === undefined ? null : (event.actor ?? booking.userId),
    eventId: event?.id ?? null,
    webhook: null,
    notifications: notifications.filter(({ eventId }) => eventId === event?.id),
  };
}

function sale(booking: Booking, records: BookingRecords): HistoryEntry {
  const { createdAt, expiresAt, userId } = booking;
  const type = expiresAt === null ? "booking.confirmed" : "booking.held";
  const verb = expiresAt === null ? "Booked" : "Held";
  const entry = own(booking, records, type, createdAt, `${verb}: ${saleOf(records.changes.sold)}`);
  return { ...entry, actor: entry.actor ?? userId };
}

/** The corrections of passengers whose events retention has not deleted. The audit list keeps them longer. */
function corrected(booking: Booking, records: BookingRecords): readonly HistoryEntry[] {
  return records.events
    .filter(({ type }) => type === "booking.corrected")
    .map(({ createdAt, data, idempotencyKey }) => {
      const title = `Corrected: ${String(data["corrected"])} of passenger ${String(data["passenger"])}`;
      return own(booking, records, "booking.corrected", createdAt, title, idempotencyKey);
    });
}

/** The last change of the flight by the airline. */
function flightChanged(
  booking: BookingOnFlight,
  { events, notifications }: BookingRecords,
): readonly HistoryEntry[] {
  const { flight } = booking;
  const { lastChange } = flight;
  if (lastChange === null || !isFlightChanged(booking)) return [];
  const key = flightChangeKey(flight);
  const eventId = events.find(({ idempotencyKey }) => idempotencyKey === key)?.id ?? null;
  return [
    {
      ...noEvent,
      at: new Date(lastChange.changedAt),
      type: lastChange.type,
      title: flightChangeText(flight, lastChange),
      actor: null,
      eventId,
      notifications: notifications.filter((one) => one.eventId === eventId),
    },
  ];
}

/** The confirmation of a hold by a payment. */
function confirmation(booking: Booking, records: BookingRecords): readonly HistoryEntry[] {
  const { expiresAt, confirmedAt } = booking;
  if (expiresAt === null || confirmedAt === null) return [];
  const entry = own(booking, records, "booking.confirmed", confirmedAt, paidTitle(booking));
  const payer = records.payments.find(({ outcome }) => outcome === "confirmed");
  const webhook = payer === undefined ? null : webhookOf(payer, records.kept);
  return [{ ...byNobody(entry), webhook }];
}

/** The changes that were made, one that cost more with the payment that made it. */
function changed(booking: Booking, records: BookingRecords): readonly HistoryEntry[] {
  const payments = records.payments.filter(({ outcome }) => outcome === "changed");
  return records.changes.made.map(({ at, title, key, isPaid }) => {
    const entry = own(booking, records, "booking.changed", at, title, key);
    const payer = payments.find(({ createdAt }) => createdAt.getTime() === at.getTime());
    if (!isPaid || payer === undefined) return entry;
    return { ...byNobody(entry), webhook: webhookOf(payer, records.kept) };
  });
}

/** No caller was involved: time or a payment caused it. */
function byNobody(entry: HistoryEntry): HistoryEntry {
  return { ...entry, actor: null };
}

/** A payment after the expiry takes seats again. */
function paidTitle({ expiredAt }: Booking): string {
  return expiredAt === null
    ? "Paid; booking confirmed"
    : "Paid; seats taken again; booking confirmed";
}

const noEvent = { eventId: null, webhook: null, notifications: [] };

/** An event of a provider, or a refund that an admin recorded, with the notifications about what followed from it. */
function reported(
  booking: Booking,
  payment: Payment,
  { events, notifications, kept }: BookingRecords,
): HistoryEntry {
  const { eventId, createdAt, actor } = payment;
  const keys = keysCausedBy(eventId, booking.id);
  const caused = events.filter(
    ({ id, idempotencyKey }) => id === eventId || keys.includes(idempotencyKey),
  );
  return {
    at: createdAt,
    type: reportType(booking, payment),
    title: reportTitle(booking, payment),
    actor,
    eventId,
    webhook: actor === null ? webhookOf(payment, kept) : null,
    notifications: notifications.filter((one) => caused.some(({ id }) => id === one.eventId)),
  };
}

const paymentTitles: Readonly<
  Record<PaymentOutcome, (amount: string, payment: Payment, due: string) => string>
> = {
  confirmed: (amount) => `Paid ${amount}`,
  changed: (amount) => `Paid ${amount} for a change`,
  mismatch: (amount) => `Paid ${amount}, which is not the price`,
  unseated: (amount) => `Paid ${amount} without seats; to be given back`,
  surplus: (amount) => `Paid ${amount} again; to be given back`,
  failed: (amount) => `Payment of ${amount} failed`,
  disputed: (amount, { note }) => `Dispute of ${amount} ${note ?? ""}`,
  refunded: (amount, { note }, due) => `Refunded ${amount} in all, ${due}${suffixOf(note)}`,
  corrected: (amount, { note }, due) =>
    `Refund corrected to ${amount} in all, ${due}${suffixOf(note)}`,
  refund_failed: (amount, { note }) => `Refund of ${amount} ${note ?? "failed"}`,
  overrefunded: (amount) => `Refund of ${amount} is more than was paid; not counted`,
  unmatched: (amount) =>
    `Refund of ${amount} does not match the payment of this booking; not counted`,
};

function reportTitle({ refundDueMinor, currency }: Booking, payment: Payment): string {
  const due = moneyText(moneyOf(refundDueMinor, currency));
  const of = refundDueMinor === 0 ? "none was due" : `of ${due} due`;
  return paymentTitles[payment.outcome](payment.amount, payment, of);
}

const suffixOf = (note: string | null) => (note === null ? "" : `: ${note}`);

/** What a refund is now: one before the cancellation counts towards what became due then. */
function reportType({ refundDueMinor }: Booking, { outcome, amountMinor }: Payment) {
  if (outcome === "refund_failed") return "refund.failed";
  if (outcome === "corrected") return "refund.corrected";
  if (outcome !== "refunded") return `payment.${outcome}` as const;
  return (amountMinor ?? 0) < refundDueMinor ? "refund.partial" : "refund.succeeded";
}

function webhookOf({ provider, eventId }: Payment, kept: ReadonlySet<Event["id"]>): Webhook {
  return { provider, eventId, deleted: !kept.has(eventId) };
}

function keysCausedBy(eventId: Event["id"], bookingId: Booking["id"]): readonly string[] {
  const types = [...paymentProblems, "booking.refunded"] as const;
  return types.map((type) => bookingEventKey(type, bookingId, eventId));
}

function saleOf({ seats, totalMinor, currency }: Booking): string {
  const price = moneyText(moneyOf(totalMinor, currency));
  return `${seatsText(seats)} for ${price}`;
}

function refund(
  { refundMinor, refundPercent, refundReason, currency }: Booking,
  at: Date,
): HistoryEntry {
  const amount = moneyText(moneyOf(refundMinor ?? 0, currency));
  const suffix = refundReason === null ? "" : `: ${refundReason}`;
  const isDue = refundMinor !== null && refundMinor > 0;
  const title = isDue
    ? `Refund of ${amount} (${refundPercent ?? 0} %) pending`
    : "No refund is due";
  const type = isDue ? "refund.pending" : "refund.none";
  return { at, type, title: `${title}${suffix}`, actor: null, ...noEvent };
}

function revealed({ createdAt, actor, reason }: Disclosure): HistoryEntry {
  const title = `Passports revealed: ${reason}`;
  return { at: createdAt, type: "passport.revealed", title, actor, ...noEvent };
}
