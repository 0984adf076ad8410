import type { Model, Operation } from "../../support/linearizability.ts";

/** What a client asked about one flight. */
export type FlightRequest = BookingRequest | BookingOf<"cancel" | "read booking"> | Read;

export interface BookingRequest {
  readonly does: "book";
  readonly seats: number;
  /** The idempotency key; null for none. */
  readonly key: string | null;
  /** Different for different requests, also for those with one key. */
  readonly contact: string;
  /** Holds the seats until a payment, instead of booking them. */
  readonly isHold: boolean;
}

interface BookingOf<Does extends string> {
  readonly does: Does;
  readonly bookingId: string;
  readonly seats: number;
}

interface Read {
  readonly does: "read";
}

export type FlightAnswer =
  | {
      readonly is: "booked";
      readonly bookingId: string;
      /** Null: GraphQL does not say. */
      readonly replayed: boolean | null;
      /** Null: REST does not say. */
      readonly seatsLeft: number | null;
    }
  | { readonly is: "no seats" | "seats"; readonly seatsLeft: number }
  | { readonly is: "booking"; readonly status: BookingStatus; readonly seatsLeft: number }
  | { readonly is: "cancelled"; readonly cancelledAt: string }
  | { readonly is: "key reused" | "key in flight" | "too many holds" | "not found" };

/** As long as holds neither expire nor are paid. */
type BookingStatus = "confirmed" | "held" | "cancelled";

export interface FlightOperation extends Operation {
  /** The interface and instance it was sent to. */
  readonly through: string;
  readonly request: FlightRequest;
  /** Null: unknown. */
  readonly answer: FlightAnswer | null;
}

/**
 * A flight with its bookings and the idempotency keys that they used. It is one object, because seats,
 * booking and key must change at the same moment.
 */
export interface FlightState {
  readonly seatsLeft: number;
  /** By id. */
  readonly bookings: ReadonlyMap<string, BookingState>;
  readonly keys: ReadonlyMap<string, KeyState>;
}

interface BookingState {
  readonly isHold: boolean;
  /** Null: it is not cancelled. Empty: the answer of the cancellation is unknown. */
  readonly cancelledAt: string | null;
}

/** The first request with a key that succeeded. */
interface KeyState {
  readonly contact: string;
  /** Null: no answer had it yet. */
  readonly bookingId: string | null;
}

export const flightModel = (seats: number): Model<FlightState, FlightOperation> => ({
  initial: { seatsLeft: seats, bookings: new Map(), keys: new Map() },
  apply(state, { request, answer }) {
    switch (request.does) {
      case "book":
        return afterBooking(state, request, answer);
      case "cancel":
        return afterCancellation(state, request, answer);
      case "read":
        return answer?.is === "seats" && answer.seatsLeft === state.seatsLeft ? state : null;
      case "read booking":
        return isBooking(state, request.bookingId, answer) ? state : null;
    }
  },
  keyOf: ({ seatsLeft, bookings, keys }) => {
    const sold = [...bookings].map(
      ([id, { isHold, cancelledAt }]) => `${id} ${isHold} ${cancelledAt}`,
    );
    const used = [...keys].map(([key, { contact, bookingId }]) => `${key} ${contact} ${bookingId}`);
    return [seatsLeft, ...sold.toSorted(), ...used.toSorted()].join();
  },
});

function afterBooking(
  state: FlightState,
  request: BookingRequest,
  answer: FlightAnswer | null,
): FlightState | null {
  const { seatsLeft } = state;
  const used = request.key === null ? undefined : state.keys.get(request.key);
  switch (answer?.is) {
    case undefined:
      return used === undefined ? sold(state, request, null) : null;
    case "booked": {
      const { bookingId, replayed } = answer;
      if (replayed === (used === undefined)) return null;
      const next =
        used === undefined
          ? sold(state, request, bookingId)
          : replay(state, request, used, bookingId);
      return (answer.seatsLeft ?? next?.seatsLeft) === next?.seatsLeft ? next : null;
    }
    case "no seats": {
      const isRight = answer.seatsLeft === seatsLeft && seatsLeft < request.seats;
      return used === undefined && isRight ? state : null;
    }
    case "too many holds":
      return used === undefined && seatsLeft >= request.seats && holds(state) >= maxHolds
        ? state
        : null;
    case "key reused":
      return used !== undefined && used.contact !== request.contact ? state : null;
    case "key in flight":
      return state;
    default:
      return null;
  }
}

/** The most holds of one user on one flight. */
const maxHolds = 3;

const holds = ({ bookings }: FlightState): number =>
  [...bookings.values()].filter(({ isHold, cancelledAt }) => isHold && cancelledAt === null).length;

/** Null if there are too few seats or too many holds. */
function sold(
  state: FlightState,
  request: BookingRequest,
  bookingId: string | null,
): FlightState | null {
  const { seatsLeft, bookings, keys } = state;
  const { seats, key, contact, isHold } = request;
  if (seatsLeft < seats || (isHold && holds(state) >= maxHolds)) return null;
  return {
    seatsLeft: seatsLeft - seats,
    bookings:
      bookingId === null ? bookings : withEntry(bookings, bookingId, { isHold, cancelledAt: null }),
    keys: key === null ? keys : withEntry(keys, key, { contact, bookingId }),
  };
}

/** Null if the key is for another request or another booking. */
function replay(
  state: FlightState,
  { key, contact, isHold }: BookingRequest,
  used: KeyState,
  bookingId: string,
): FlightState | null {
  if (key === null || used.contact !== contact) return null;
  if (used.bookingId !== null) return used.bookingId === bookingId ? state : null;
  return {
    ...state,
    bookings: withEntry(state.bookings, bookingId, { isHold, cancelledAt: null }),
    keys: withEntry(state.keys, key, { contact, bookingId }),
  };
}

function afterCancellation(
  state: FlightState,
  { bookingId, seats }: BookingOf<"cancel" | "read booking">,
  answer: FlightAnswer | null,
): FlightState | null {
  const booking = state.bookings.get(bookingId);
  // The client knows the id from an answer, so the booking must not be missing.
  if (booking === undefined || (answer !== null && answer.is !== "cancelled")) return null;
  const isFirst = booking.cancelledAt === null;
  const isTold = answer !== null && booking.cancelledAt === "";
  if (isFirst || isTold) {
    const cancelledAt = answer?.cancelledAt ?? "";
    return {
      ...state,
      seatsLeft: state.seatsLeft + (isFirst ? seats : 0),
      bookings: withEntry(state.bookings, bookingId, { ...booking, cancelledAt }),
    };
  }
  return answer?.cancelledAt === booking.cancelledAt ? state : null;
}

function isBooking(state: FlightState, bookingId: string, answer: FlightAnswer | null): boolean {
  const booking = state.bookings.get(bookingId);
  if (booking === undefined || answer?.is !== "booking") return false;
  const kept = booking.isHold ? "held" : "confirmed";
  const status = booking.cancelledAt === null ? kept : "cancelled";
  return answer.status === status && answer.seatsLeft === state.seatsLeft;
}

const withEntry = <Value>(
  map: ReadonlyMap<string, Value>,
  key: string,
  value: Value,
): ReadonlyMap<string, Value> => new Map(map).set(key, value);
