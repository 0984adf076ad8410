import { nextPosition, type Place } from "../place.ts";
import type { Later, Write } from "../statement.ts";
import { placedWrites, type Transaction } from "../transaction.ts";

/** A transaction that may store new events. */
export interface PlacedTransaction extends Transaction {
  /** Made again by `place`, once the positions of new events are known. */
  readonly writes: readonly Write<unknown>[];
  /** Makes the writes with positions after this one. Returns the last. */
  place(after: number): number;
  /** The places of its new events. */
  readonly places: readonly Place[];
}

/** What a transaction writes. Its new events have provisional positions until `place` is called. */
export function placingOf(
  parts: readonly (Write<unknown> | Later)[],
): Pick<PlacedTransaction, "writes" | "place" | "places"> {
  const places: Place[] = [];
  let writes = placedWrites(parts, (each) => each.assign(places.push(each)));
  return {
    places,
    get writes() {
      return writes;
    },
    place(after) {
      let last = after;
      writes = placedWrites(parts, (each) => each.assign((last = nextPosition(last, each))));
      return last;
    },
  };
}
