/**
 * The word in `known` with the fewest edits from `word`, ignoring case; null if none is within `maxEdits`. By default,
 * a third of the letters may differ: more is no misspelling.
 */
export function nearest(
  word: string,
  known: readonly string[],
  maxEdits = Math.min(Math.max(1, Math.round(word.length / 3)), word.length - 1),
): string | null {
  const [first] = known
    // A difference in length needs at least that many edits.
    .filter((name) => Math.abs(name.length - word.length) <= maxEdits)
    .map((name) => ({ name, edits: edits(word.toLowerCase(), name.toLowerCase(), maxEdits) }))
    .filter(({ edits }) => edits <= maxEdits)
    .toSorted((one, other) => one.edits - other.edits);
  return first?.name ?? null;
}

/** The Levenshtein distance: letters to insert, delete or replace. Infinite if it is more than `max`. */
function edits(from: string, to: string, max: number): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [index, letter] of from.split("").entries()) {
    const above = row;
    row = [index + 1];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (above[column - 1] ?? 0) + (letter === to[column - 1] ? 0 : 1);
      row.push(Math.min(replaced, (above[column] ?? 0) + 1, (row[column - 1] ?? 0) + 1));
    }
    if (row.every((count) => count > max)) return Infinity;
  }
  return row[to.length] ?? 0;
}
