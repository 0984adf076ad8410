import type { Operation } from "../../support/linearizability.ts";
import type { Window } from "../../support/smallest-window.ts";

import type { DeliveryOperation, DeliveryState } from "./delivery.ts";
import type { FlightAnswer, FlightOperation, FlightRequest, FlightState } from "./flight.ts";

/** How a window is written. */
interface Language<State, Op> {
  readonly state: (state: State) => string;
  readonly request: (operation: Op) => string;
  readonly answer: (operation: Op) => string;
}

const barWidth = 36;

/** A window as text: one line for each operation, with a bar from its call to its return. */
export function timelineOf<State, Op extends Operation & { readonly through: string }>(
  { before, operations, earlier }: Window<State, Op>,
  language: Language<State, Op>,
): string {
  const calls = operations.map(({ callMs }) => callMs);
  const returns = operations.map(({ returnMs }) => returnMs).filter(Number.isFinite);
  const startMs = Math.min(...calls);
  const endMs = Math.max(startMs + 0.001, ...calls, ...returns);
  const column = (ms: number) => Math.round(((ms - startMs) / (endMs - startMs)) * (barWidth - 1));
  const bar = ({ callMs, returnMs }: Op) => {
    const from = column(Math.max(callMs, startMs));
    const isOpen = returnMs === Infinity;
    const to = isOpen ? barWidth - 1 : column(returnMs);
    const line = to === from ? "│" : `├${"─".repeat(to - from - 1)}${isOpen ? "┄" : "┤"}`;
    return `${" ".repeat(from)}${line}`.padEnd(barWidth);
  };
  const time = (ms: number) => (ms === Infinity ? "" : (ms - startMs).toFixed(1)).padStart(9);
  const line = (operation: Op, drawn: string) => {
    const sent = `${operation.through.padEnd(14)} ${language.request(operation)}`;
    const late = operation.returnMs === Infinity ? "(later) " : "";
    return `${time(operation.callMs)} ${time(operation.returnMs)}  ${drawn}  ${sent} → ${late}${language.answer(operation)}`;
  };
  return [
    "  call ms return ms",
    ...earlier.map((operation) => line(operation, " ".repeat(barWidth))),
    `The state is now certain: ${language.state(before)}. No order of the following explains the answers:`,
    ...operations
      .toSorted((one, other) => one.callMs - other.callMs)
      .map((operation) => line(operation, bar(operation))),
  ].join("\n");
}

export const flightLanguage: Language<FlightState, FlightOperation> = {
  state: ({ seatsLeft, bookings }) => {
    const booked = [...bookings.values()].filter(({ cancelledAt }) => cancelledAt === null);
    return `${seatsLeft} seats left, ${booked.length} bookings`;
  },
  request: ({ request }) => requestText(request),
  answer: ({ answer }) => (answer === null ? "unknown" : answerText(answer)),
};

function requestText(request: FlightRequest): string {
  switch (request.does) {
    case "book": {
      const key = request.key === null ? "without a key" : `key ${request.key}`;
      return `${request.isHold ? "hold" : "book"} ${request.seats}, ${key}, ${request.contact}`;
    }
    case "cancel":
      return `cancel ${short(request.bookingId)} of ${request.seats}`;
    case "read":
      return "read";
    case "read booking":
      return `read ${short(request.bookingId)} of ${request.seats}`;
  }
}

function answerText(answer: FlightAnswer): string {
  switch (answer.is) {
    case "booked": {
      const replayed = answer.replayed === true ? ", replayed" : "";
      const left = answer.seatsLeft === null ? "" : `, ${answer.seatsLeft} left`;
      return `${short(answer.bookingId)}${replayed}${left}`;
    }
    case "no seats":
      return `no seats, ${answer.seatsLeft} left`;
    case "seats":
      return `${answer.seatsLeft} left`;
    case "booking":
      return `${answer.status}, ${answer.seatsLeft} left`;
    case "cancelled":
      return `cancelled at ${answer.cancelledAt.slice(11)}`;
    default:
      return answer.is;
  }
}

export const deliveryLanguage: Language<DeliveryState, DeliveryOperation> = {
  state: ({ isStored, eventId, duplicates }) =>
    isStored ? `stored as ${short(eventId ?? "?")}, ${duplicates} duplicates` : "not stored",
  request: ({ request }) =>
    request.does === "deliver" ? "deliver" : `read ${short(request.eventId)}`,
  answer: ({ answer }) => {
    if (answer === null) return "unknown";
    if (answer.is === "event") return `${answer.duplicates} duplicates`;
    return answer.is === "not found" ? answer.is : `${answer.is} ${short(answer.eventId)}`;
  },
};

/** The end of an id, which is random. */
const short = (id: string): string => (id.length > 10 ? `…${id.slice(-6)}` : id);
