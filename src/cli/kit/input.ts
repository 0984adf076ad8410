import { stat } from "node:fs/promises";

import { errorCode } from "../../base/errors.ts";

import { messageOf } from "./errors.ts";

/** The file of a command line, or standard input for `-`. Throws if the file does not exist or is a folder. */
export async function inputFrom(file: string): Promise<Bun.BunFile> {
  if (file === "-") return Bun.stdin;
  try {
    if ((await stat(file)).isDirectory()) throw new Error(`${file} is a folder, not a file`);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    throw new Error(`The file ${file} does not exist`, { cause: error });
  }
  return Bun.file(file);
}

/** The bytes of a file, or of standard input for `-`. Throws an error that names the file. */
export async function readBody(file: string): Promise<Uint8Array<ArrayBuffer>> {
  const input = await inputFrom(file);
  try {
    return await input.bytes();
  } catch (error) {
    throw new Error(`${file} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
