import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

import { atExit } from "./processes.ts";

/** Runs `work` with a temporary empty folder. */
export async function withFolder<Result>(
  suite: string,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  // Uses a folder beside this file, because the system's temporary folder may be in memory.
  const data = join(import.meta.dir, "data");
  mkdirSync(data, { recursive: true });
  const folder = mkdtempSync(join(data, `${suite}-`));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const unregister = atExit(remove);
  try {
    return await work(folder);
  } finally {
    remove();
    unregister();
  }
}
