/*
 * Checks whether a concurrent history is linearizable (Herlihy and Wing, "Linearizability: A Correctness
 * Condition for Concurrent Objects", 1990): each operation appears to take effect at one moment between its
 * call and its return. Histories of several objects are checked one object at a time, which is sufficient
 * (ibid., "locality").
 */

/** An operation on one object, as its client saw it. */
export interface Operation {
  readonly callMs: number;
  /** Infinity: the outcome is unknown. The operation may take effect at any time after its call, or never. */
  readonly returnMs: number;
}

/** The sequential behaviour of one object. States are immutable. */
export interface Model<State, Op extends Operation> {
  readonly initial: State;
  /**
   * The state after an operation; null if this state cannot give its answer. For an unknown outcome, the
   * state after its effect; null if it would have none.
   */
  apply(state: State, operation: Op): State | null;
  /** The same text for equal states only. */
  keyOf(state: State): string;
}

/** The call or the return of an operation. */
interface Moment {
  readonly atMs: number;
  /** Index of the operation. */
  readonly index: number;
  readonly isReturn: boolean;
}

/** All calls and returns in order of time. Unknown outcomes have no return. */
export function momentsOf(operations: readonly Operation[]): Moment[] {
  const moments = operations.flatMap(({ callMs, returnMs }, index): Moment[] => [
    { atMs: callMs, index, isReturn: false },
    ...(returnMs === Infinity ? [] : [{ atMs: returnMs, index, isReturn: true }]),
  ]);
  // At the same time, calls come first: then the operations overlap, which allows more orders.
  return moments.toSorted(
    (one, other) => one.atMs - other.atMs || Number(one.isReturn) - Number(other.isReturn),
  );
}

/** A moment in the list of those that are not linearized yet. */
interface Entry {
  readonly index: number;
  /** The return of a call; null for a return, and for a call without one. */
  returned: Entry | null;
  readonly isReturn: boolean;
  previous: Entry | null;
  next: Entry | null;
}

/** A choice that can be taken back. */
interface Choice<State> {
  readonly call: Entry;
  readonly stateBefore: State;
}

/** Far more than the histories of our tests need. */
const maxChoices = 300_000;

/**
 * Porcupine's algorithm: the depth-first search of Wing and Gong ("Testing and Verifying Concurrent Objects",
 * 1993) with the memory of Lowe ("Testing for linearizability", 2017). At each step one of the minimal
 * operations, those that were called before the first return, takes effect. A set of linearized
 * operations with the state that they led to is never tried twice. Throws if the search takes too long.
 */
export function isLinearizable<State, Op extends Operation>(
  model: Model<State, Op>,
  operations: readonly Op[],
  initial: State = model.initial,
): boolean {
  const head = listOf(operations);
  const tried = new Set<string>();
  const choices: Choice<State>[] = [];
  let state = initial;
  let linearized = 0n;
  let unreturned = operations.filter(({ returnMs }) => returnMs !== Infinity).length;
  let entry = head.next;
  // What is left when all others are linearized never took effect.
  while (unreturned > 0) {
    if (entry === null) throw new Error("An operation returned before its call");
    if (!entry.isReturn) {
      const next = model.apply(state, at(operations, entry.index));
      const after = linearized | (1n << BigInt(entry.index));
      if (next !== null && isNew(tried, `${after.toString(36)} ${model.keyOf(next)}`)) {
        choices.push({ call: entry, stateBefore: state });
        state = next;
        linearized = after;
        if (entry.returned !== null) unreturned -= 1;
        remove(entry);
        entry = head.next;
      } else entry = entry.next;
    } else {
      // Everything after this return has to wait for its operation: take the last choice back.
      const last = choices.pop();
      if (last === undefined) return false;
      const { call, stateBefore } = last;
      state = stateBefore;
      linearized &= ~(1n << BigInt(call.index));
      if (call.returned !== null) unreturned += 1;
      putBack(call);
      entry = call.next;
    }
  }
  return true;
}

function isNew(tried: Set<string>, key: string): boolean {
  if (tried.has(key)) return false;
  if (tried.size >= maxChoices) throw new Error("The history is too large to check");
  tried.add(key);
  return true;
}

/** The moments as a linked list, after an empty head. */
function listOf(operations: readonly Operation[]): Entry {
  const head: Entry = { index: -1, returned: null, isReturn: false, previous: null, next: null };
  const calls = new Map<number, Entry>();
  let last = head;
  for (const { index, isReturn } of momentsOf(operations)) {
    const entry: Entry = { index, returned: null, isReturn, previous: last, next: null };
    const call = calls.get(index);
    if (call === undefined) calls.set(index, entry);
    else call.returned = entry;
    last.next = entry;
    last = entry;
  }
  return head;
}

/** Removes a call and its return. They keep their neighbours, so that they can be put back. */
function remove(call: Entry): void {
  unlink(call);
  if (call.returned !== null) unlink(call.returned);
}

/** In the reverse order of `remove`. */
function putBack(call: Entry): void {
  if (call.returned !== null) link(call.returned);
  link(call);
}

function unlink(entry: Entry): void {
  if (entry.previous !== null) entry.previous.next = entry.next;
  if (entry.next !== null) entry.next.previous = entry.previous;
}

function link(entry: Entry): void {
  if (entry.previous !== null) entry.previous.next = entry;
  if (entry.next !== null) entry.next.previous = entry;
}

export function at<Item>(items: readonly Item[], index: number): Item {
  const item = items[index];
  if (item === undefined) throw new Error(`No item ${index}`);
  return item;
}
