import { invalid } from "../../base/validation.ts";
import { type Write, write } from "../../db/statement.ts";
import type { SeatHold } from "../model/seat-hold.ts";

import { deleteHold, giveHeldBack, insertHold, mayHold } from "./seat-holds.sql.ts";

/** The limit of holds per user and flight, whatever their purpose, so that they alone cannot sell out a flight. */
const maxHoldsPerFlight = 3;

/**
 * The writes that hold seats which the transaction has taken before. They throw `validation-failed` for too many holds.
 * `pointer`: the field of the request at fault.
 */
export function holdWrites(hold: SeatHold, pointer: string): readonly Write<unknown>[] {
  const detail = `You already have ${maxHoldsPerFlight} holds on this flight. Pay for one or cancel one first.`;
  const limited = { ...hold, limit: maxHoldsPerFlight };
  return [
    ...(hold.seats === 0 ? [] : [write(mayHold, limited, invalid(pointer, detail))]),
    write(insertHold, hold),
  ];
}

/** The writes that end a hold and give its seats back to the flight. They do so once, even if another request ends it too. */
export function releaseWrites(
  held: Pick<SeatHold, "bookingId" | "purpose" | "flightId">,
): readonly Write<unknown>[] {
  return [write(giveHeldBack, held), write(deleteHold, held)];
}
