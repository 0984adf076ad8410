import { at, isLinearizable, type Model, momentsOf, type Operation } from "./linearizability.ts";

/** A part of a history that cannot be linearized. */
export interface Window<State, Op> {
  /** The state at its start, to which every order of the earlier operations leads. */
  readonly before: State;
  /**
   * The operations that were open at its start or called within it. Those that returned after its end have no
   * return. Operations that change nothing are left out if the window is impossible without them.
   */
  readonly operations: readonly Op[];
  /** The last operations that returned before it. */
  readonly earlier: readonly Op[];
}

/** A possible state, with the open operations that have taken effect in it. */
interface Configuration<State> {
  readonly state: State;
  readonly done: bigint;
}

/** A moment at which only one state is possible, and each write has taken effect in all orders or in none. */
interface Start<State> {
  readonly state: State;
  /** Operations that returned before, in that order, by index. */
  readonly returned: readonly number[];
  /** Operations that were called before and may still take effect. */
  readonly open: readonly number[];
  /** Operations called later, up to now. */
  readonly later: number[];
}

const maxConfigurations = 50_000;
const earlierShown = 6;

/**
 * Finds the smallest window of a history that cannot be linearized: it ends with the first return that no
 * order explains, and starts as late as possible. Returns null if the history can be linearized. Follows
 * all possible states from moment to moment (Lowe's just-in-time linearization), unlike `isLinearizable`.
 * `changesNothing` must be true only for operations that change no state, such as reads.
 */
export function smallestWindow<State, Op extends Operation>(
  model: Model<State, Op>,
  operations: readonly Op[],
  changesNothing: (operation: Op) => boolean,
): Window<State, Op> | null {
  const starts: Start<State>[] = [{ state: model.initial, returned: [], open: [], later: [] }];
  const returned: number[] = [];
  const open = new Set<number>();
  let possible: readonly Configuration<State>[] = [{ state: model.initial, done: 0n }];
  for (const { index, isReturn } of momentsOf(operations)) {
    if (isReturn) {
      possible = whereDone(model, operations, possible, open, index);
      open.delete(index);
      if (possible.length === 0) {
        const untilNow = operations.map((operation, one) =>
          open.has(one) ? { ...operation, returnMs: Infinity } : operation,
        );
        return lastWindow(model, untilNow, changesNothing, starts);
      }
      returned.push(index);
    } else {
      open.add(index);
      for (const { later } of starts) later.push(index);
    }
    const [first, ...others] = possible;
    if (first === undefined) continue;
    const doneInSome = possible.reduce((all, { done }) => all | done, 0n);
    const doneInAll = possible.reduce((all, { done }) => all & done, first.done);
    const undecided = [...open].filter((one) => has(doneInSome, one) && !has(doneInAll, one));
    // A write that may be on either side would be forced to one. A read on either side explains nothing.
    if (undecided.some((one) => !changesNothing(at(operations, one)))) continue;
    if (others.every(({ state }) => isSame(model, state, first.state))) {
      const waiting = [...open].filter((one) => !has(doneInSome, one));
      starts.push({ state: first.state, returned: [...returned], open: waiting, later: [] });
    }
  }
  return null;
}

/** All configurations in which an operation has taken effect before its return. It is no longer open in them. */
function whereDone<State, Op extends Operation>(
  model: Model<State, Op>,
  operations: readonly Op[],
  possible: readonly Configuration<State>[],
  open: ReadonlySet<number>,
  returned: number,
): Configuration<State>[] {
  const seen = new Set<string>();
  const found = new Map<string, Configuration<State>>();
  const todo = [...possible];
  for (let configuration = todo.pop(); configuration !== undefined; configuration = todo.pop()) {
    const { state, done } = configuration;
    if (has(done, returned)) {
      const closed = { state, done: done & ~(1n << BigInt(returned)) };
      found.set(keyOf(model, closed), closed);
      continue;
    }
    for (const index of open) {
      if (has(done, index)) continue;
      const next = model.apply(state, at(operations, index));
      if (next === null) continue;
      const reached = { state: next, done: done | (1n << BigInt(index)) };
      const key = keyOf(model, reached);
      if (seen.has(key)) continue;
      seen.add(key);
      if (seen.size > maxConfigurations) throw new Error("Too many states are possible");
      todo.push(reached);
    }
  }
  return [...found.values()];
}

/** The window that starts last and is still impossible. */
function lastWindow<State, Op extends Operation>(
  model: Model<State, Op>,
  operations: readonly Op[],
  changesNothing: (operation: Op) => boolean,
  starts: readonly Start<State>[],
): Window<State, Op> {
  const those = (indexes: readonly number[]) => indexes.map((index) => at(operations, index));
  for (const { state, returned, open, later } of starts.toReversed()) {
    let inside = those([...open, ...later]);
    if (isLinearizable(model, inside, state)) continue;
    for (const needless of inside.filter(changesNothing)) {
      const without = inside.filter((operation) => operation !== needless);
      if (!isLinearizable(model, without, state)) inside = without;
    }
    return { before: state, operations: inside, earlier: those(returned.slice(-earlierShown)) };
  }
  throw new Error("The two algorithms disagree");
}

const has = (set: bigint, index: number): boolean => ((set >> BigInt(index)) & 1n) === 1n;

const keyOf = <State>(model: Model<State, never>, { state, done }: Configuration<State>): string =>
  `${done.toString(36)} ${model.keyOf(state)}`;

const isSame = <State>(model: Model<State, never>, one: State, other: State): boolean =>
  model.keyOf(one) === model.keyOf(other);
