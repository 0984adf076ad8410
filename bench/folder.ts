import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

import { atExit } from "./processes.ts";

/** Runs `work` with an empty folder of its own, which is gone afterwards. */
export async function withFolder<Result>(
  suite: string,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  // Beside this file, not in the system's folder for temporary files: that may be in memory.
  const data = join(import.meta.dir, "data");
  mkdirSync(data, { recursive: true });
  const folder = mkdtempSync(join(data, `${suite}-`));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const forget = atExit(remove);
  try {
    return await work(folder);
  } finally {
    remove();
    forget();
  }
}
