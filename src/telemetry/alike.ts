import type { Clock } from "../base/clock.ts";

/** Equal entries are written once in this interval and otherwise counted. */
const quietMs = 10_000;
/** The most kinds of entry to track at once. All further kinds share one. */
const maxKinds = 100;
const otherKinds = "other";

/** Writes a log entry, with the number of equal ones before it that were not written. */
type Write = (alike: number) => void;

/** The entries of one kind since the last that was written. */
interface Suppressed {
  readonly alike: number;
  readonly write: Write;
}

/**
 * Limits log entries that anyone can cause, or that every request causes in an outage: they would bury the cause and
 * fill a full disk further. The first entry of a kind is written, and then the latest one every ten seconds.
 */
export function alikeEntries(clock: Clock): (kind: string, write: Write) => void {
  const kinds = new Map<string, Suppressed | null>();

  function suppress(kind: string): void {
    kinds.set(kind, null);
    clock.after(quietMs, () => {
      const suppressed = kinds.get(kind);
      kinds.delete(kind);
      if (!suppressed) return;
      suppressed.write(suppressed.alike);
      suppress(kind);
    });
  }

  return (name, write) => {
    const kind = kinds.has(name) || kinds.size < maxKinds ? name : otherKinds;
    const suppressed = kinds.get(kind);
    if (suppressed === undefined) {
      write(0);
      suppress(kind);
      return;
    }
    kinds.set(kind, { alike: suppressed === null ? 0 : suppressed.alike + 1, write });
  };
}
