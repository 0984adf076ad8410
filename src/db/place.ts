import { firstPositionAt, idAt, makeTail } from "../base/ids.ts";

/**
 * Where a new event, or a new notification of an older one, is stored. The storage assigns its position, in the order of
 * commits, when its transaction begins, and again if the transaction is repeated. It is the value of the column.
 */
export class Place {
  #position: number | null = null;

  /** `atMs`: the time of receipt. `tail`: the random part of the id. */
  constructor(
    readonly atMs: number,
    readonly tail = makeTail(),
  ) {}

  /** Throws before it is assigned. */
  get position(): number {
    if (this.#position === null) throw new Error("The event has no position yet");
    return this.#position;
  }

  /** The id of the event. Throws before the position is assigned. */
  get id(): `evt_${string}` {
    return idAt("evt", this.position, this.tail);
  }

  assign(position: number): void {
    this.#position = position;
  }

  toJSON(): number {
    return this.position;
  }
}

/** The next position, after the last one that was assigned. */
export function nextPosition(last: number, { atMs }: Place): number {
  return Math.max(last + 1, firstPositionAt(atMs));
}
