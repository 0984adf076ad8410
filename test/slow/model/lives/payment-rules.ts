import type { BookingRow, Content, PaymentRow } from "./content.ts";
import { flightOf, isForSale, paidFor } from "./rules.ts";

/*
 * What events about payments should do, written from the documentation. The functions change the expected content, and
 * return the first word of the event's effect; null: not predicted.
 */

/** What an event says was paid, or was refunded of a payment so far. */
export interface Notice {
  readonly reference: string;
  /** Null: no amount that can be read. */
  readonly minor: number | null;
  readonly currency: string;
}

const payouts = new Set(["refunded", "overrefunded", "unmatched"]);
const isPayout = ({ outcome }: PaymentRow) => payouts.has(outcome);

/** Whether all that is known of the booking's payments follows from simple rules: it was held, and never changed. */
export const isPlain = ({ offers }: Content, { id, expires }: BookingRow) =>
  expires !== null && !offers.some(({ booking }) => booking === id);

const isOf =
  (id: string, booking: BookingRow, { reference }: Notice) =>
  (row: PaymentRow) =>
    id === booking.id && row.booking === id && row.reference === reference;

const ofPayment = ({ payments }: Content, booking: BookingRow, notice: Notice) =>
  payments.filter(isOf(booking.id, booking, notice));

function record(
  { payments }: Content,
  { id: booking }: BookingRow,
  { reference, minor, currency }: Notice,
  outcome: string,
): "no" {
  payments.push({ booking, reference, outcome, minor, currency });
  return "no";
}

/** The booking that a payment paid for. */
function payerOf({ bookings, payments }: Content, reference: string): BookingRow | undefined {
  const paid = payments.find(
    (row) => row.reference === reference && ["confirmed", "changed"].includes(row.outcome),
  );
  return bookings.find(({ id }) => id === paid?.booking);
}

/** The refunds that waited for a payment are of the booking that names it first. Returns how many. */
export function settles(content: Content, booking: BookingRow, reference: string): number {
  const found = content.waiting.filter((row) => row.reference === reference);
  content.waiting = content.waiting.filter((row) => row.reference !== reference);
  for (const { minor } of found) refunds(content, booking, { reference, minor, currency: "usd" });
  return found.length;
}

export function pays(
  content: Content,
  booking: BookingRow,
  notice: Notice,
  nowMs: number,
): string | null {
  settles(content, booking, notice.reference);
  const { reference, minor, currency } = notice;
  const payer = payerOf(content, reference);
  if (!isPlain(content, booking)) {
    const isExact = currency === "usd" && minor !== null && payer === undefined;
    if (isExact) Object.assign(booking, paidFor(content, booking, minor, nowMs));
    return null;
  }
  if (payer !== undefined) return "no";
  const known = ofPayment(content, booking, notice);
  const isSame = (row: PaymentRow) =>
    row.minor === minor && (minor === null || row.currency?.toLowerCase() === currency);
  if (known.some((row) => !isPayout(row) && row.outcome !== "failed" && isSame(row))) return "no";
  const early = known.filter(({ outcome }) => outcome === "unmatched");
  const returned = Math.max(0, ...early.map((row) => row.minor ?? 0));
  if (currency === "usd" && returned > 0 && returned >= (minor ?? 0)) return "no";
  if (booking.status === "confirmed") return record(content, booking, notice, "surplus");
  if (booking.status === "cancelled") return record(content, booking, notice, "unseated");
  if (minor !== booking.total || currency !== "usd")
    return record(content, booking, notice, "mismatch");
  if (booking.status === "expired") {
    const flight = flightOf(content, booking.flight);
    const isSeated = isForSale(flight, nowMs) && flight.free >= booking.seats;
    if (!isSeated) return record(content, booking, notice, "unseated");
    flight.free -= booking.seats;
  }
  Object.assign(booking, { status: "confirmed", charged: minor, paid: minor, refunded: returned });
  for (const row of early) row.outcome = "refunded";
  record(content, booking, notice, "confirmed");
  return "confirmed";
}

export function fails(content: Content, booking: BookingRow, notice: Notice): void {
  const payer = payerOf(content, notice.reference);
  if (payer !== undefined && payer !== booking) return;
  record(content, booking, notice, "failed");
  settles(content, booking, notice.reference);
}

export function refunds(content: Content, booking: BookingRow, notice: Notice): string | null {
  // A refund belongs to its payment, whatever booking it names.
  const payer = payerOf(content, notice.reference);
  if (payer !== undefined && payer !== booking) return refunds(content, payer, notice);
  if (!isPlain(content, booking)) return null;
  const minor = notice.minor ?? 0;
  const isKnown = (row: PaymentRow) =>
    ["overrefunded", "unmatched"].includes(row.outcome) && row.minor === minor;
  if (ofPayment(content, booking, notice).some(isKnown)) return "no";
  if (payer === undefined) return record(content, booking, notice, "unmatched");
  if (minor > booking.total) return record(content, booking, notice, "overrefunded");
  if (minor <= booking.refunded) return "no";
  booking.refunded = minor;
  record(content, booking, notice, "refunded");
  return "refunded";
}
