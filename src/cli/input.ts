import { stat } from "node:fs/promises";

import { codeOf } from "./failures.ts";

/** The file that a command line names, or standard input for `-`. Throws an error that says what is wrong. */
export async function inputFrom(file: string): Promise<Bun.BunFile> {
  if (file === "-") return Bun.stdin;
  try {
    if ((await stat(file)).isDirectory()) throw new Error(`${file} is a folder, not a file`);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    throw new Error(`There is no file ${file}`, { cause: error });
  }
  return Bun.file(file);
}
