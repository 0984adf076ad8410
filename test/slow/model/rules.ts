/*
 * An independent implementation of the product's rules, written from its contract. It imports nothing from
 * the program, so that they do not share errors.
 */

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** How long a failure counts, and how many an address may have before it is blocked. */
export const failureWindowMs = minuteMs;
export const allowedFailures = 20;

/** How long the first response to an `Idempotency-Key` is stored. */
export const keyKeptMs = dayMs;

/** Booking closes this long before departure. */
export const saleEndsMs = hourMs;

/** Clock tolerance: a token is accepted this long after it expires. */
export const tokenSkewMs = 30_000;

const currencies = { USD: 2, JPY: 0, KWD: 3 } as const;
export type Currency = keyof typeof currencies;

/** UTC offsets of airports in hours, for the time of the model's clock (late November to January). */
const airports = { JFK: -5, LHR: 0, NRT: 9 } as const;
export type Airport = keyof typeof airports;

export interface Terms {
  /** 0, 50, 90 or 100. */
  readonly percent: number;
  /** Refund and fee in minor units; they add up to the price. */
  readonly amountMinor: number;
  readonly feeMinor: number;
}

/** The refund when a booking is cancelled at `nowMs`. */
export function refundTerms(
  totalMinor: number,
  bookedMs: number,
  departureMs: number,
  nowMs: number,
): Terms {
  const left = departureMs - nowMs;
  let percent = 0;
  if (left > 24 * hourMs) percent = 50;
  if (left > 72 * hourMs) percent = 90;
  if (nowMs - bookedMs <= 24 * hourMs && left >= 7 * dayMs) percent = 100;
  const hundredths = totalMinor * percent;
  const amountMinor = (hundredths - (hundredths % 100)) / 100;
  return { percent, amountMinor, feeMinor: totalMinor - amountMinor };
}

/** Minor units as the number in API responses. */
export function majorUnits(minor: number, currency: Currency): number {
  return Number(decimal(minor, currency));
}

/** Minor units as text: 49955 of KWD is `49.955`. */
export function decimal(minor: number, currency: Currency): string {
  const digits = currencies[currency];
  if (digits === 0) return String(minor);
  const text = String(minor).padStart(digits + 1, "0");
  return `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

export const iso = (ms: number): string => new Date(ms).toISOString();

/** Local time at an airport with its UTC offset. Whole seconds only. */
export function localTime(ms: number, airport: Airport): string {
  const hours = airports[airport];
  const offset = `${hours < 0 ? "-" : "+"}${String(Math.abs(hours)).padStart(2, "0")}:00`;
  return `${iso(ms + hours * hourMs).slice(0, 19)}${offset}`;
}

/** The calendar day at an airport. */
export const localDay = (ms: number, airport: Airport): string =>
  localTime(ms, airport).slice(0, 10);

/** `7h 05m`. */
export function durationText(minutes: number): string {
  return `${Math.floor(minutes / 60)}h ${String(minutes % 60).padStart(2, "0")}m`;
}

/** All but the last four characters. */
export const masked = (text: string): string =>
  `*****${text.slice(text.length - Math.min(4, Math.floor(text.length / 3)))}`;

/** The limiter's key of a client: an IPv4 address, or the first 64 bits of an IPv6 address. */
export function clientOf(address: string): string {
  return address.includes(":") ? address.split(":").slice(0, 4).join(":") : address;
}

/** A position in a list, newest first. */
export interface Position {
  readonly createdMs: number;
  readonly id: string | number;
}

/** Newest first, then by descending id. */
export function newestFirst(one: Position, other: Position): number {
  if (one.createdMs !== other.createdMs) return other.createdMs - one.createdMs;
  if (one.id === other.id) return 0;
  return one.id < other.id ? 1 : -1;
}

/** The exact cursor of an item. */
export function cursorOf({ createdMs, id }: Position): string {
  return Buffer.from(JSON.stringify({ createdAt: iso(createdMs), id })).toString("base64url");
}

export type Direction = "forward" | "backward";

interface Slice {
  readonly items: readonly Position[];
  /** Whether more items follow in this direction. */
  readonly hasMore: boolean;
  readonly before: number;
  readonly after: number;
}

/** The page of a sorted list after a position, in a direction. */
export function sliceOf(
  list: readonly Position[],
  size: number,
  direction: Direction,
  from: Position | null,
): Slice {
  const forward = direction === "forward";
  const beyond = list.filter((item) => {
    if (from === null) return true;
    const order = newestFirst(item, from);
    return forward ? order > 0 : order < 0;
  });
  const items = forward ? beyond.slice(0, size) : beyond.slice(-size);
  const [first, last] = [items.at(0), items.at(-1)];
  return {
    items,
    hasMore: beyond.length > size,
    before: first === undefined ? 0 : list.indexOf(first),
    after: last === undefined ? 0 : list.length - 1 - list.indexOf(last),
  };
}
