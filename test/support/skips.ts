const printed = new Set<string>();

/** Whether tests are skipped, for `skipIf`. Prints each reason once; null: the tests can run. */
export function skips(reason: string | null): boolean {
  if (reason === null) return false;
  if (!printed.has(reason)) console.log(`skipped: ${reason}`);
  printed.add(reason);
  return true;
}
