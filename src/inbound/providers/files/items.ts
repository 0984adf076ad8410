import { type Member, membersOf } from "../../../base/json-text.ts";
import { pointerKeys, valueAt } from "../../../base/place.ts";
import type { Item, Sent } from "../provider.ts";

/** A value on the way to items. `path`: its keys, with `*` for the entries of arrays. */
interface Place extends Item {
  readonly path: readonly string[];
}
type Find = (place: Place) => readonly Item[];

/** The step that is every entry of an array. */
const everyEntry = "*";

/**
 * Compiles the pointers to arrays of items. An entry of a step `*` without items is an item itself, so that nothing in a
 * delivery is lost beside the items of others. `retryChanges`: the places around items that do not identify them.
 */
export function itemFinder(
  pointers: readonly string[],
  retryChanges: readonly string[],
): (delivery: Sent) => readonly Item[] {
  const changes = new Set(retryChanges.map((place) => JSON.stringify(pointerKeys(place))));
  const find = below([...new Set(pointers)].map(pointerKeys), changes);
  return ({ payload, text }) => find({ value: payload, text, context: "", path: [] });
}

/** Finds the items at these paths. Paths with equal steps are one, in the order of the file. */
function below(paths: readonly (readonly string[])[], changes: ReadonlySet<string>): Find {
  const steps = [...Map.groupBy(paths, ([step]) => step)].map(([step, same]) => ({
    step,
    find: below(step === undefined ? [] : same.map(([, ...rest]) => rest), changes),
  }));
  if (steps.length === 0) return () => [];
  return (place) => {
    const { value, path } = place;
    const members = membersOf(place.text);
    const context = Array.isArray(value) ? place.context : contextOf(place, members, changes);
    const placeOf = ({ name, text }: Member): Place => {
      const step = Array.isArray(value) ? everyEntry : name;
      return { value: valueAt(value, [name]), text, context, path: [...path, step] };
    };
    const entries = Array.isArray(value) ? members.map(placeOf) : [];
    return steps.flatMap(({ step, find }) => {
      if (step === undefined) return entries;
      if (step === everyEntry) return entries.flatMap((entry) => orItself(find(entry), entry));
      const found = members.findLast(({ name }) => name === step);
      return found === undefined ? [] : find(placeOf(found));
    });
  };
}

function orItself(found: readonly Item[], entry: Item): readonly Item[] {
  return found.length === 0 ? [entry] : found;
}

/** The context with the numbers, texts and literals of an object on the way. Short: all items within it have it. */
function contextOf(
  { path, context }: Place,
  members: readonly Member[],
  changes: ReadonlySet<string>,
): string {
  const scalars = members.filter(
    ({ name, text }) => !/^[[{]/.test(text) && !changes.has(JSON.stringify([...path, name])),
  );
  if (scalars.length === 0) return context;
  const hash = new Bun.CryptoHasher("sha256").update(context);
  return hash.update(JSON.stringify(scalars)).digest("hex");
}
