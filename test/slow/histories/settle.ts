import type { ListedBooking } from "./client.ts";
import type { FlightAnswer, FlightOperation } from "./flight.ts";

/**
 * Resolves the unknown outcomes of a flight by a list of its bookings, read after all operations. A request
 * that made or cancelled a listed booking took effect before the first operation that saw its effect, at the
 * latest before the list was read (`listedMs`). The others took effect after all operations, if ever, so
 * they are left out. Without this, a search would have to guess which took effect.
 */
export function settled(
  operations: readonly FlightOperation[],
  listed: readonly ListedBooking[],
  listedMs: number,
): readonly FlightOperation[] {
  const byContact = new Map(listed.map((booking) => [booking.contact, booking]));
  const byId = new Map(listed.map((booking) => [booking.bookingId, booking]));
  return operations.flatMap((operation) => {
    const { request, answer } = operation;
    if (answer !== null) return operation;
    if (request.does === "book") {
      const made = byContact.get(request.contact);
      if (made === undefined) return [];
      const { bookingId } = made;
      const effect: FlightAnswer = { is: "booked", bookingId, replayed: null, seatsLeft: null };
      const returnMs = firstMs(operations, (seen) => isOf(seen, bookingId)) ?? listedMs;
      return until(returnMs, { ...operation, answer: effect });
    }
    if (request.does !== "cancel") return [];
    const cancelledAt = byId.get(request.bookingId)?.cancelledAt ?? null;
    if (cancelledAt === null) return [];
    const isSeen = (seen: FlightOperation) =>
      isOf(seen, request.bookingId) &&
      (seen.answer?.is === "cancelled" ||
        (seen.answer?.is === "booking" && seen.answer.status === "cancelled"));
    const returnMs = firstMs(operations, isSeen) ?? listedMs;
    return until(returnMs, { ...operation, answer: { is: "cancelled", cancelledAt } });
  });
}

/** Nothing for an operation whose effect was seen before its call: it only repeated another. */
function until(returnMs: number, operation: FlightOperation): readonly FlightOperation[] {
  return returnMs < operation.callMs ? [] : [{ ...operation, returnMs }];
}

/** When the first of these operations returned. */
function firstMs(
  operations: readonly FlightOperation[],
  isSuch: (operation: FlightOperation) => boolean,
): number | null {
  const returns = operations.filter(isSuch).map(({ returnMs }) => returnMs);
  return returns.length === 0 ? null : Math.min(...returns);
}

/** Whether the answer of an operation shows that the booking exists. */
function isOf({ request, answer }: FlightOperation, bookingId: string): boolean {
  if (answer?.is === "booked") return answer.bookingId === bookingId;
  if (answer === null || (request.does !== "cancel" && request.does !== "read booking"))
    return false;
  return request.bookingId === bookingId && answer.is !== "not found";
}
