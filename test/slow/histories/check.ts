import { isLinearizable, type Model, type Operation } from "../../support/linearizability.ts";
import { smallestWindow, type Window } from "../../support/smallest-window.ts";

import { deliveryModel, type DeliveryOperation } from "./delivery.ts";
import { flightModel, type FlightOperation } from "./flight.ts";
import type { Histories } from "./load.ts";

/** What is wrong with the history of a flight; null if it is linearizable. */
export function wrongWithFlight({
  id,
  seats,
  operations,
}: Histories["flights"][number]): string | null {
  const title = `Flight ${id} with ${seats} seats`;
  const lonely = operations.find((operation) => isInFlightAlone(operation, operations));
  if (lonely !== undefined) return `${title}: ${JSON.stringify(lonely)} was alone with its key`;
  return wrongWith(title, flightModel(seats), operations, changesNothing);
}

/** What is wrong with the history of a delivery; null if it is linearizable. */
export const wrongWithDelivery = (history: {
  readonly name: string;
  readonly operations: readonly DeliveryOperation[];
}): string | null =>
  wrongWith(`Delivery ${history.name}`, deliveryModel, history.operations, isRead);

interface Sent extends Operation {
  readonly through: string;
  readonly request: object;
  readonly answer: object | null;
}

function wrongWith<State, Op extends Sent>(
  title: string,
  model: Model<State, Op>,
  operations: readonly Op[],
  isHarmless: (operation: Op) => boolean,
): string | null {
  if (isLinearizable(model, operations)) return null;
  const window = smallestWindow(model, operations, isHarmless);
  if (window === null) throw new Error("The two algorithms disagree");
  return `${title} is not linearizable.\n${timelineOf(window, model)}`;
}

const isRead = ({ request }: FlightOperation | DeliveryOperation): boolean =>
  request.does.startsWith("read");

/** A read or an error. */
function changesNothing(operation: FlightOperation): boolean {
  const { answer } = operation;
  return (
    isRead(operation) || (answer !== null && answer.is !== "booked" && answer.is !== "cancelled")
  );
}

/** A key is in flight only while another request has it. The model cannot know that. */
function isInFlightAlone(
  { request, answer, callMs, returnMs }: FlightOperation,
  operations: readonly FlightOperation[],
): boolean {
  if (request.does !== "book" || answer?.is !== "key in flight") return false;
  return !operations.some(
    (other) =>
      other.request !== request &&
      other.request.does === "book" &&
      other.request.key === request.key &&
      other.callMs <= returnMs &&
      other.returnMs >= callMs,
  );
}

const barWidth = 36;

/** A window as text: one line for each operation, with a bar from its call to its return. */
function timelineOf<State, Op extends Sent>(
  { before, operations, earlier }: Window<State, Op>,
  model: Model<State, Op>,
): string {
  const times = operations.flatMap(({ callMs, returnMs }) => [callMs, returnMs]);
  const startMs = Math.min(...times);
  const endMs = Math.max(startMs + 0.001, ...times.filter(Number.isFinite));
  const column = (ms: number) =>
    Math.round(((Math.min(ms, endMs) - startMs) / (endMs - startMs)) * (barWidth - 1));
  const bar = ({ callMs, returnMs }: Op) =>
    " ".repeat(column(callMs)) + "─".repeat(1 + column(returnMs) - column(callMs));
  const time = (ms: number) => (ms === Infinity ? "" : (ms - startMs).toFixed(1)).padStart(9);
  const line = (operation: Op, drawn: string) => {
    const { callMs, returnMs, through, request, answer } = operation;
    const asked = `${through.padEnd(14)} ${wordsOf(request)}`;
    return `${time(callMs)} ${time(returnMs)}  ${drawn.padEnd(barWidth)}  ${asked} → ${answer === null ? "unknown" : wordsOf(answer)}`;
  };
  return [
    "  call ms return ms",
    ...earlier.map((operation) => line(operation, "")),
    `The state is now certain: ${model.keyOf(before)}. No order of the following explains the answers:`,
    ...operations
      .toSorted((one, other) => one.callMs - other.callMs)
      .map((operation) => line(operation, bar(operation))),
  ].join("\n");
}

/** The values, with the names of all but the first, which says what it is about. */
const wordsOf = (fields: object): string =>
  Object.entries(fields)
    .filter(([, value]) => value !== null && value !== false)
    .map(([name, value], index) => (index === 0 ? String(value) : `${name} ${String(value)}`))
    .join(", ");
