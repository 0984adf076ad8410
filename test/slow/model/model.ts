import type { DeliveryContent } from "../harness/signed-deliveries.ts";

import {
  type Airport,
  allowedFailures,
  clientOf,
  type Currency,
  failureWindowMs,
  keyKeptMs,
  newestFirst,
  type Position,
  type Terms,
} from "./rules.ts";

/*
 * The expected content of the service, as plain lists. Commands update it together with the server; ids that
 * only the server can generate are read from its responses.
 */

export interface ModelUser extends Position {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

export interface ModelFlight extends Position {
  readonly id: number;
  readonly flightNumber: string;
  readonly departureMs: number;
  readonly cabinClass: "economy" | "business" | "first";
  airline: string;
  origin: Airport;
  destination: Airport;
  arrivalMs: number;
  seats: number;
  /** So many more were sold when an import made them fewer. */
  oversold: number;
  priceMinor: number;
  currency: Currency;
}

export type FlightPlan = Omit<ModelFlight, "id" | "createdMs" | "oversold">;

interface ModelPassenger {
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string;
  readonly dateOfBirth: string;
  readonly passportNumber: string;
}

/** The body of a booking request. */
export interface BookingInput {
  readonly flightId: number;
  readonly passengers: readonly ModelPassenger[];
  readonly contactEmail: string;
  readonly paymentMethod: "card";
}

export interface ModelBooking extends Position {
  readonly id: string;
  readonly reference: string;
  readonly userId: string;
  readonly input: BookingInput;
  readonly totalMinor: number;
  readonly currency: Currency;
  /** How its flight changed, as it is shown; null if it did not. Otherwise its owner may cancel for a full refund. */
  flightChange: object | null;
  cancellation: { readonly atMs: number; readonly terms: Terms; readonly reason: string } | null;
}

export interface ModelEvent {
  /** Null until it is read from the server: the response to a booking does not contain its event. */
  id: string | null;
  readonly createdMs: number;
  readonly provider: string;
  readonly type: string;
  readonly status: "accepted" | "ignored" | "unreadable";
  readonly key: string;
  readonly body: string;
  /** The delivery, so that it can be repeated; null for events of the service itself. */
  readonly content: DeliveryContent | null;
  notifications: number;
  duplicates: number;
}

/** The first response to an idempotency key. */
export interface KeyRecord {
  readonly operation: "booking" | "user";
  readonly userId: string;
  readonly key: string;
  readonly input: unknown;
  readonly madeId: string;
  readonly atMs: number;
}

interface KeptToken {
  readonly token: string;
  /** The token's `exp`, in whole seconds. */
  readonly expiresMs: number;
}

export interface Model {
  readonly users: ModelUser[];
  readonly flights: ModelFlight[];
  readonly bookings: ModelBooking[];
  readonly events: ModelEvent[];
  /** Newest last. */
  readonly keys: KeyRecord[];
  readonly keptTokens: Map<string, KeptToken>;
  readonly failures: Map<string, { readonly sinceMs: number; count: number }>;
  readonly refusals: { readonly provider: string; readonly atMs: number }[];
  /** As listed by the server, after a successful comparison with the model. */
  listed: { notifications: readonly Position[]; rejections: readonly Position[] };
}

export function emptyModel(): Model {
  return {
    users: [],
    flights: [],
    bookings: [],
    events: [],
    keys: [],
    keptTokens: new Map(),
    failures: new Map(),
    refusals: [],
    listed: { notifications: [], rejections: [] },
  };
}

/** Picks an item by any number; undefined for an empty list. */
export function pick<Item>(list: readonly Item[], number: number): Item | undefined {
  return list[number % Math.max(list.length, 1)];
}

export const seatsOf = ({ input }: ModelBooking): number => input.passengers.length;

export function seatsSold({ bookings }: Model, flightId: number): number {
  const sold = bookings.filter(
    ({ input, cancellation }) => input.flightId === flightId && cancellation === null,
  );
  return sold.reduce((sum, booking) => sum + seatsOf(booking), 0);
}

export const seatsLeft = (model: Model, flight: ModelFlight): number =>
  Math.max(0, flight.seats - seatsSold(model, flight.id));

export function flightOf({ flights }: Model, id: number): ModelFlight {
  const flight = flights.find((candidate) => candidate.id === id);
  if (flight === undefined) throw new Error(`The model has no flight ${id}`);
  return flight;
}

export function statusOf(
  model: Model,
  { cancellation, input }: ModelBooking,
  nowMs: number,
): "confirmed" | "cancelled" | "flown" {
  if (cancellation !== null) return "cancelled";
  return flightOf(model, input.flightId).departureMs <= nowMs ? "flown" : "confirmed";
}

/** The stored response of a key; undefined when it has expired or never existed. */
export function keyRecord(
  { keys }: Model,
  place: Pick<KeyRecord, "operation" | "userId" | "key">,
  nowMs: number,
): KeyRecord | undefined {
  return keys.findLast(
    ({ operation, userId, key, atMs }) =>
      operation === place.operation &&
      userId === place.userId &&
      key === place.key &&
      nowMs < atMs + keyKeptMs,
  );
}

/** Milliseconds until the limiter accepts an address again; 0 when it does now. */
export function blockedMs({ failures }: Model, address: string, nowMs: number): number {
  const found = failures.get(clientOf(address));
  if (found === undefined || found.count < allowedFailures) return 0;
  return Math.max(0, found.sinceMs + failureWindowMs - nowMs);
}

export function countFailure({ failures }: Model, address: string, nowMs: number): void {
  const found = failures.get(clientOf(address));
  if (found !== undefined && nowMs < found.sinceMs + failureWindowMs) found.count += 1;
  else failures.set(clientOf(address), { sinceMs: nowMs, count: 1 });
}

/** An event about a booking, made by the service itself. */
export type FlightEventType = "flight.changed" | "flight.oversold";

export function bookingEvent(
  type: "booking.confirmed" | "booking.cancelled" | FlightEventType,
  bookingId: string,
  nowMs: number,
): ModelEvent {
  return {
    id: null,
    createdMs: nowMs,
    provider: "bookings",
    type,
    status: "accepted",
    key: bookingId,
    body: "",
    content: null,
    notifications: 1,
    duplicates: 0,
  };
}

export const sorted = <Item extends Position>(list: readonly Item[]): Item[] =>
  list.toSorted(newestFirst);

/** Events with a known id, newest first. */
export function sortedEvents({ events }: Model): (ModelEvent & { readonly id: string })[] {
  return sorted(events.flatMap((event) => (event.id === null ? [] : [{ ...event, id: event.id }])));
}
