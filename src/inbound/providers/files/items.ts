import { membersOf } from "../../../base/json-text.ts";
import { deliveryPrefix, pointerKeys, valueAt } from "../../../base/place.ts";
import type { Sent } from "../provider.ts";

/** `path`: the pointer to what was sent, with `*` for the entries of arrays. */
type Find = (sent: Sent, path: string) => readonly Sent[];

/** The step that is every entry of an array. */
const everyEntry = "*";

/**
 * Compiles the pointers to arrays of items. An entry of a step `*` without items is an item itself, so that nothing in a
 * delivery is lost beside the items of others. `retryChanges`: the places around items that do not identify them.
 */
export function itemFinder(
  pointers: readonly string[],
  retryChanges: readonly string[],
): (delivery: Sent) => readonly Sent[] {
  const find = below([...new Set(pointers)].map(pointerKeys), new Set(retryChanges));
  return (delivery) => find(delivery, deliveryPrefix.slice(0, -1));
}

/** Finds the items at these paths. Paths with equal steps are one, in the order of the file. */
function below(paths: readonly (readonly string[])[], changes: ReadonlySet<string>): Find {
  const finds = [...Map.groupBy(paths, ([step]) => step)].map(([step, same]) => {
    const rest = same.map(([, ...steps]) => steps);
    return { step, find: step === undefined ? null : below(rest, changes) };
  });
  return ({ value, text: json, context: outer }, path) => {
    const members = membersOf(json);
    const isList = Array.isArray(value);
    const scalars = members
      .filter(({ name, text }) => !isList && !/^[[{]/.test(text) && !changes.has(`${path}/${name}`))
      .map(({ name, text }) => ({ name, text }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
    // Short, since all items within the object have it.
    const around = new Bun.CryptoHasher("sha256").update(outer + JSON.stringify(scalars));
    const context = scalars.length === 0 ? outer : around.digest("hex");
    const inner = members.map(({ name, text }) => ({
      value: valueAt(value, [name]),
      text,
      context,
    }));
    return finds.flatMap(({ step, find }) => {
      if (find === null) return isList ? inner : [];
      if (step !== everyEntry) {
        const member = inner[members.findLastIndex(({ name }) => name === step)];
        return member === undefined ? [] : find(member, `${path}/${isList ? everyEntry : step}`);
      }
      return (isList ? inner : []).flatMap((entry) => {
        const found = find(entry, `${path}/${everyEntry}`);
        return found.length === 0 ? [entry] : found;
      });
    });
  };
}
