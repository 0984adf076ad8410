import type { AppError } from "../../base/errors.ts";
import { invalid } from "../../base/validation.ts";

/** The limit of holds and offers per user and flight, so that they alone cannot sell out a flight. */
export const maxHoldsPerFlight = 3;

/** The limit of offers for a booking. */
export const maxOffers = 100;

/** `pointer`: the field of the request at fault. */
export function tooManyHolds(pointer: string): AppError {
  const detail = `You already have ${maxHoldsPerFlight} holds on this flight. Pay for one or cancel one first.`;
  return invalid(pointer, detail);
}
