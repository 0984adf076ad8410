import { hourMs, refundTerms, saleEndsMs } from "../rules.ts";

import type { BookingRow, Content, FlightRow, OfferRow } from "./content.ts";

/* What requests should do, written from the documentation. */

/** What a change of the flight credits, by what a cancellation would refund. */
const creditPercent: Readonly<Record<number, number>> = { 100: 100, 90: 95, 50: 75, 0: 50 };
const mostHolds = 3;

const share = (minor: number, percent: number) => Math.floor((minor * percent) / 100);

export function flightOf({ flights }: Pick<Content, "flights">, id: number): FlightRow {
  const flight = flights.find((one) => one.id === id);
  if (flight === undefined) throw new Error(`There is no flight ${id}`);
  return flight;
}

export const isForSale = ({ departs, cancelled }: FlightRow, nowMs: number) =>
  cancelled === null && departs - nowMs > saleEndsMs;

/** A cancelled flight never departs. */
export const hasLeft = ({ departs, cancelled: isCancelled }: FlightRow, nowMs: number) =>
  departs <= nowMs && isCancelled === null;

export const hasOpenOffer = (content: Content, booking: BookingRow) =>
  content.offers.find(
    (one) => one.booking === booking.id && ["offered", "pending"].includes(one.status),
  );

/** A change that waits for its payment is not replaced. */
const isPending = (content: Content, booking: BookingRow) =>
  hasOpenOffer(content, booking)?.status === "pending";

/** Whether the airline changed the flight since it was booked. */
const isFree = ({ outdated }: BookingRow) => outdated > 0;

/** What cancelling seats that cost `price` refunds. */
export function refundOf(
  content: Content,
  booking: BookingRow,
  price: number,
  nowMs: number,
): number {
  const { charged, due, kept, created, status } = booking;
  if (status === "held") return 0;
  if (isFree(booking)) return Math.min(price, charged - due);
  const { departs } = flightOf(content, booking.flight);
  const { percent } = refundTerms(price, created, departs, nowMs);
  return Math.min(share(price, percent), charged - due - kept);
}

/** The expected status of an offer, and the terms if it is made. */
interface Expected {
  readonly status: number;
  readonly total: number;
  readonly change: number;
  readonly kept: number;
}

const refused = (status: number): Expected => ({ status, total: 0, change: 0, kept: 0 });

/** The status of a change of a booking that its flight or its own state does not allow; null if both do. */
function closed(content: Content, booking: BookingRow, nowMs: number): number | null {
  if (hasLeft(flightOf(content, booking.flight), nowMs)) return 400;
  return ["held", "confirmed"].includes(booking.status) ? null : 422;
}

export function partOffer(
  content: Content,
  booking: BookingRow,
  seats: number,
  nowMs: number,
): Expected {
  const status = closed(content, booking, nowMs);
  if (status !== null) return refused(status);
  if (isPending(content, booking)) return refused(409);
  const total = Math.floor((booking.total * (booking.seats - seats)) / booking.seats);
  const refund = refundOf(content, booking, booking.total - total, nowMs);
  const kept = Math.min(0, booking.charged - booking.due - booking.kept - refund);
  return { status: 201, total, change: 0 - refund, kept };
}

export function flightOffer(
  content: Content,
  booking: BookingRow,
  to: FlightRow,
  nowMs: number,
): Expected {
  const status = closed(content, booking, nowMs);
  if (status !== null) return refused(status);
  if (booking.status === "held" || booking.flight === to.id) return refused(422);
  if (!isForSale(to, nowMs)) return refused(422);
  if (to.free < booking.seats) return refused(409);
  if (isPending(content, booking)) return refused(409);
  if (holdsOf(content, booking.owner, to.id, booking.id) >= mostHolds) return refused(422);
  const { departs } = flightOf(content, booking.flight);
  const refund = refundOf(content, booking, booking.total, nowMs);
  const { percent } = refundTerms(booking.total, booking.created, departs, nowMs);
  const credit = isFree(booking) ? refund : share(booking.total, creditPercent[percent] ?? 0);
  const total = to.price * booking.seats;
  const kept = booking.charged - booking.due - booking.kept - refund;
  return { status: 201, total, change: 0 + Math.max(total - credit, -refund), kept };
}

/** The holds and offers of a user on a flight, without the open offer of a booking. */
function holdsOf(
  { bookings, offers }: Content,
  owner: string,
  flight: number,
  except: string | null,
) {
  const isOwn = (id: string) => bookings.some((one) => one.id === id && one.owner === owner);
  const held = bookings.filter(
    (one) => one.owner === owner && one.flight === flight && one.status === "held",
  );
  const open = offers.filter(
    (one) =>
      one.to === flight &&
      one.booking !== except &&
      isOwn(one.booking) &&
      ["offered", "pending"].includes(one.status),
  );
  return held.length + open.length;
}

/** The expected status of a sale. */
export function sale(
  content: Content,
  asked: {
    readonly owner: string;
    readonly flight: FlightRow;
    readonly seats: number;
    readonly isHold: boolean;
  },
  nowMs: number,
): number {
  const { owner, flight, seats, isHold } = asked;
  if (!isForSale(flight, nowMs)) return 422;
  if (flight.free < seats) return 409;
  return isHold && holdsOf(content, owner, flight.id, null) >= mostHolds ? 422 : 201;
}

/** A booking after a change was made. `paid`: by a payment. */
export function changed(booking: BookingRow, offer: OfferRow, paid: number): Partial<BookingRow> {
  const { charged, due, kept, seats } = booking;
  const refund = Math.max(0, -offer.change);
  if (offer.kind === "cancellation" && offer.seats === seats) return cancelled(booking, refund);
  return {
    status: booking.status,
    flight: offer.to ?? booking.flight,
    seats: offer.to === null ? seats - offer.seats : seats,
    total: offer.total,
    charged: charged + paid,
    paid: paid === 0 ? booking.paid : (booking.paid ?? 0) + paid,
    due: due + refund,
    kept: kept + offer.kept,
  };
}

/** A cancellation of all seats. */
export function cancels(content: Content, booking: BookingRow, nowMs: number): void {
  const refund = refundOf(content, booking, booking.total, nowMs);
  flightOf(content, booking.flight).free += booking.seats;
  Object.assign(booking, cancelled(booking, refund));
}

function cancelled({ charged, due, kept }: BookingRow, refund: number): Partial<BookingRow> {
  const dueNow = due + refund;
  return { status: "cancelled", due: dueNow, kept: Math.min(kept, charged - dueNow) };
}

/** A booking after an exact payment of its price or of its pending change, and another one after any other payment. */
export function paidFor(
  content: Content,
  booking: BookingRow,
  minor: number,
  nowMs: number,
): Partial<BookingRow> {
  const { status, total, seats } = booking;
  const flight = flightOf(content, booking.flight);
  const pending = hasOpenOffer(content, booking);
  if (status === "confirmed" && pending?.status === "pending") {
    return minor === pending.change ? changed(booking, pending, minor) : {};
  }
  const canReseat = status === "expired" && isForSale(flight, nowMs) && flight.free >= seats;
  const confirms = minor === total && (status === "held" || canReseat);
  return confirms ? { status: "confirmed", charged: total, paid: total } : {};
}

/** Hours before departure around which terms change. */
export const leads = [20 * hourMs, 60 * hourMs, 30 * 24 * hourMs] as const;
