import type { JsonObject } from "../../../base/payload.ts";
import { pointerKeys, valueAt } from "../../../base/place.ts";

type Find = (value: unknown) => readonly unknown[];

/** The step that is every entry of an array. */
const everyEntry = "*";

/**
 * Compiles the pointers to arrays of items. An entry of a step `*` without items is an item itself, so that nothing in a
 * delivery is lost beside the items of others.
 */
export function itemFinder(
  pointers: readonly string[],
): (payload: JsonObject) => readonly unknown[] {
  return below([...new Set(pointers)].map(pointerKeys));
}

/** Finds the items at these paths. Paths with equal steps are one, in the order of the file. */
function below(paths: readonly (readonly string[])[]): Find {
  const finds = [...Map.groupBy(paths, ([step]) => step)].map(([step, same]): Find => {
    if (step === undefined) return entriesOf;
    const find = below(same.map(([, ...rest]) => rest));
    if (step !== everyEntry) return (value) => find(valueAt(value, [step]));
    return (value) =>
      entriesOf(value).flatMap((entry) => {
        const found = find(entry);
        return found.length === 0 ? [entry] : found;
      });
  });
  return (value) => finds.flatMap((find) => find(value));
}

const entriesOf: Find = (value) => (Array.isArray(value) ? value : []);
