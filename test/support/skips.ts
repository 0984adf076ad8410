import { appendFileSync } from "node:fs";
import { join, relative } from "node:path";

const root = join(import.meta.dir, "../..");
const printed = new Set<string>();

/**
 * Whether tests are skipped, for `skipIf`. null: the tests can run. Prints each reason once, and adds a line to the file
 * that TEST_SKIPS names.
 */
export function skips(reason: string | null): boolean {
  if (reason === null) return false;
  if (!printed.has(reason)) console.log(`skipped: ${reason}`);
  printed.add(reason);
  // Under `bun test`, the file whose tests run, also when one process runs many.
  const file = relative(root, Bun.main);
  const { TEST_SKIPS: list = "" } = process.env;
  if (list !== "") appendFileSync(list, `${JSON.stringify({ file, reason })}\n`);
  return true;
}

/** Why tests of Linux's own are skipped elsewhere. */
export const onlyLinux = "the system is not Linux";

/** Why tests that need root's rights are skipped; null when they run. */
export const notRoot = process.getuid?.() === 0 ? null : "the tests do not run as root";

/** Why tests with named pipes are skipped; null when they run. */
export const noPipes = process.platform === "win32" ? "Windows has no named pipes" : null;

/** The reason if one of these programs is not in PATH, for the first of them. */
export function notInstalled(...programs: readonly string[]): string | null {
  const missing = programs.find((program) => Bun.which(program) === null);
  return missing === undefined ? null : `${missing} is not installed`;
}
