import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import { at, isLinearizable, type Model, type Operation } from "./linearizability.ts";
import { forAll, runs } from "./runs.ts";
import { smallestWindow } from "./smallest-window.ts";

interface RegisterOperation extends Operation {
  readonly write: number | null;
  /** Null for a write, and for an unknown outcome. */
  readonly read: number | null;
}

const register: Model<number, RegisterOperation> = {
  initial: 0,
  apply(value, { write, read }) {
    if (write !== null) return write;
    return read === null || read === value ? value : null;
  },
  keyOf: String,
};

const write = (value: number, callMs: number, returnMs: number): RegisterOperation => ({
  write: value,
  read: null,
  callMs,
  returnMs,
});
const read = (value: number, callMs: number, returnMs: number): RegisterOperation => ({
  write: null,
  read: value,
  callMs,
  returnMs,
});
const isRead = (operation: RegisterOperation) => operation.write === null;

interface QueueOperation extends Operation {
  readonly enqueue: string | null;
  readonly dequeued: string | null;
}

const queue: Model<readonly string[], QueueOperation> = {
  initial: [],
  apply(items, { enqueue, dequeued }) {
    if (enqueue !== null) return [...items, enqueue];
    return items[0] === dequeued ? items.slice(1) : null;
  },
  keyOf: (items) => items.join(),
};
const enqueue = (item: string, callMs: number, returnMs: number): QueueOperation => ({
  enqueue: item,
  dequeued: null,
  callMs,
  returnMs,
});
const dequeue = (item: string, callMs: number, returnMs: number): QueueOperation => ({
  enqueue: null,
  dequeued: item,
  callMs,
  returnMs,
});

// Herlihy and Wing, "Linearizability", figure 1: H1 to H4.
describe("a queue of Herlihy and Wing", () => {
  test.each<[string, readonly QueueOperation[], boolean]>([
    [
      "orders concurrent items as they are taken out",
      [enqueue("x", 0, 30), enqueue("y", 10, 20), dequeue("x", 40, 60), dequeue("y", 50, 70)],
      true,
    ],
    [
      "does not overtake an item that was put in before",
      [enqueue("x", 0, 10), enqueue("y", 20, 40), dequeue("y", 30, 50)],
      false,
    ],
    ["gives out an item that is being put in", [enqueue("x", 0, 30), dequeue("x", 10, 20)], true],
    [
      "gives out no item twice",
      [enqueue("x", 0, 30), enqueue("y", 10, 20), dequeue("y", 40, 60), dequeue("y", 50, 70)],
      false,
    ],
  ])("%s", (_, history, expected) => {
    expect(isLinearizable(queue, history)).toBe(expected);
  });
});

const interval = fc
  .tuple(fc.nat(12), fc.nat(6), fc.boolean())
  .map(([callMs, tookMs]) => [callMs, callMs + tookMs] as const);
const anyOperation = fc
  .tuple(interval, fc.boolean(), fc.nat(2), fc.nat(5))
  .map(([[callMs, returnMs], isWrite, value, luck]) => {
    if (!isWrite) return read(value, callMs, returnMs);
    return write(value, callMs, luck === 0 ? Infinity : returnMs);
  });
const anyHistory = fc.array(anyOperation, { maxLength: 6 });

/** Tries every order of every subset that has all operations with a known outcome. */
function hasOrder(value: number, left: readonly RegisterOperation[]): boolean {
  if (left.every(({ returnMs }) => returnMs === Infinity)) return true;
  return left.some((operation) => {
    if (left.some(({ returnMs }) => returnMs < operation.callMs)) return false;
    const next = register.apply(value, operation);
    return (
      next !== null &&
      hasOrder(
        next,
        left.filter((other) => other !== operation),
      )
    );
  });
}

describe("any history of a register", () => {
  test("is judged as by trying every order", () => {
    let linearizable = 0;
    forAll(runs(5_000), [anyHistory], (history) => {
      const expected = hasOrder(0, history);
      if (expected) linearizable += 1;
      expect(isLinearizable(register, history)).toBe(expected);
    });
    expect(linearizable).toBeGreaterThan(0);
  });

  test("has a window exactly when it is not linearizable, and the window is not either", () => {
    let windows = 0;
    forAll(runs(5_000), [anyHistory], (history) => {
      const window = smallestWindow(register, history, isRead);
      expect(window === null).toBe(hasOrder(0, history));
      if (window === null) return;
      windows += 1;
      expect(hasOrder(window.before, window.operations)).toBe(false);
    });
    expect(windows).toBeGreaterThan(0);
  });
});

/** A history of `length` operations that took effect in the order of `moments`, by concurrent clients. */
const carriedOut = fc
  .array(
    fc.record({ isWrite: fc.boolean(), value: fc.nat(9), early: fc.nat(5), late: fc.nat(5) }),
    { minLength: 50, maxLength: 300 },
  )
  .map((steps) => {
    let value = 0;
    return steps.map((step, index) => {
      if (step.isWrite) value = step.value;
      const callMs = index - step.early;
      const returnMs = index + step.late;
      return step.isWrite ? write(value, callMs, returnMs) : read(value, callMs, returnMs);
    });
  });

describe("a long history", () => {
  test("that was carried out in some order is linearizable", () => {
    forAll(runs(200), [carriedOut], (history) => {
      expect(isLinearizable(register, history)).toBe(true);
      expect(smallestWindow(register, history, isRead)).toBeNull();
    });
  });

  test("with a read of what was never written is not, and the window shows that read", () => {
    forAll(runs(200), [carriedOut, fc.nat()], (history, where) => {
      const reads = history.filter(isRead);
      fc.pre(reads.length > 0);
      const original = at(reads, where % reads.length);
      const wrong = { ...original, read: 77 };
      const changed = history.with(history.indexOf(original), wrong);
      expect(isLinearizable(register, changed)).toBe(false);
      const window = smallestWindow(register, changed, isRead);
      expect(window?.operations.filter(isRead)).toEqual([wrong]);
    });
  });
});

describe("the smallest window", () => {
  test("starts as late as possible and leaves out reads that do not matter", () => {
    const stale = read(1, 50, 60);
    const history = [
      write(1, 0, 10),
      read(1, 11, 15),
      write(2, 20, 30),
      read(2, 35, 55),
      read(2, 51, 58),
      stale,
      read(2, 70, 80),
    ];
    const window = smallestWindow(register, history, isRead);
    expect(window).toEqual({ before: 2, operations: [stale], earlier: history.slice(0, 5) });
  });

  test("leaves out a read that may have been before its start", () => {
    const wrong = read(77, -1, 4);
    const history = [read(0, 0, 4), wrong, write(1, 2, 2), write(2, 2, 3), read(2, 4, 4)];
    const window = smallestWindow(register, history, isRead);
    expect(window?.operations.filter(isRead)).toEqual([wrong]);
  });

  test("has the operations whose effect would be needed at another time", () => {
    const history = [write(1, 0, 10), write(2, 20, 60), read(2, 25, 30), read(1, 35, 40)];
    const window = smallestWindow(register, history, isRead);
    expect(window?.before).toBe(2);
    expect(window?.operations).toEqual(history.slice(3));
  });
});
