import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { removeFolder, temporaryFolder } from "./program.ts";

/** A replacement in a file, whose path is from the top of the tree. The file has the text `from` once. */
export type Change = readonly [file: string, from: string, to: string];

export const root = join(import.meta.dir, "../..");

/** What can be changed or run in a copy. The rest, such as `node_modules`, is linked. */
const copied = ["src", "test"];

/** Without the vendors' packages, which one test installs into its folder. */
export const isOwn = { recursive: true, filter: (path: string) => !path.endsWith("/node_modules") };

/** A copy of the tree with changes, removed when it is disposed of. Throws as `altered` does. */
export function alteredCopy(changes: readonly Change[]) {
  const texts = altered(changes);
  const folder = temporaryFolder();
  try {
    for (const name of readdirSync(root)) {
      if (copied.includes(name)) cpSync(join(root, name), join(folder, name), isOwn);
      else if (name !== ".git") symlinkSync(join(root, name), join(folder, name));
    }
    for (const [file, text] of texts) writeFileSync(join(folder, file), text);
  } catch (error) {
    removeFolder(folder);
    throw error;
  }
  return { folder, [Symbol.dispose]: () => removeFolder(folder) };
}

/** The changed files with their new texts. Throws when a file does not have a text once. */
export function altered(changes: readonly Change[]): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const [file, from, to] of changes) {
    const text = texts.get(file) ?? readFileSync(join(root, file), "utf8");
    const parts = text.split(from);
    if (parts.length !== 2) {
      throw new Error(`${file} has this text ${parts.length - 1} times, instead of once:\n${from}`);
    }
    texts.set(file, parts.join(to));
  }
  return texts;
}
