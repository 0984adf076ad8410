import { isLinearizable } from "../../support/linearizability.ts";
import { smallestWindow } from "../../support/smallest-window.ts";

import type { DeliveryHistory } from "./delivery-history.ts";
import { deliveryModel, type DeliveryOperation } from "./delivery.ts";
import { flightModel, type FlightOperation } from "./flight.ts";
import type { Histories } from "./load.ts";
import { deliveryLanguage, flightLanguage, timelineOf } from "./timeline.ts";

/** What is wrong with the history of a flight; null if it is linearizable. */
export function wrongWithFlight({
  id,
  seats,
  operations,
}: Histories["flights"][number]): string | null {
  const title = `Flight ${id} with ${seats} seats`;
  const lonely = operations.find((operation) => isInFlightAlone(operation, operations));
  if (lonely !== undefined) return `${title}: ${JSON.stringify(lonely)} was alone with its key`;
  const model = flightModel(seats);
  if (isLinearizable(model, operations)) return null;
  const window = smallestWindow(model, operations, changesNothing);
  if (window === null) throw new Error("The two algorithms disagree");
  return `${title} is not linearizable.\n${timelineOf(window, flightLanguage)}`;
}

/** What is wrong with the history of a delivery; null if it is linearizable. */
export function wrongWithDelivery({
  name,
  operations,
}: Pick<DeliveryHistory, "name" | "operations">): string | null {
  if (isLinearizable(deliveryModel, operations)) return null;
  const window = smallestWindow(deliveryModel, operations, isRead);
  if (window === null) throw new Error("The two algorithms disagree");
  return `Delivery ${name} is not linearizable.\n${timelineOf(window, deliveryLanguage)}`;
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
