import { existsSync, readFileSync, statSync } from "node:fs";

import { errorCode, errorMessage } from "../base/errors.ts";

import { ConfigError } from "./errors.ts";

/** A text and its source: an environment variable or a file. */
export interface FoundText {
  readonly source: string;
  readonly text: string;
}

/** Reads a secret file; null if it does not exist. Throws a `ConfigError` if it is empty or cannot be read. */
export function readSecretFile(file: string): FoundText | null {
  const text = trimmedText(file);
  return text === null
    ? null
    : { source: file, text: requireText(text, `The secret file ${file}`) };
}

/** Rejects a blank secret: anyone could guess it. */
export function requireText(secret: string, source: string): string {
  if (secret.trim() === "") throw new ConfigError(`${source} is empty: set it, or remove it`);
  return secret;
}

/** A folder may be missing. A file in its place would look like an empty folder. */
export function requireFolder(key: string, path: string): void {
  if (!existsSync(path) || statSync(path).isDirectory()) return;
  throw new ConfigError(`${key} must be a folder, but ${path} is a file`);
}

function trimmedText(file: string): string | null {
  try {
    // Editors and `echo` end a file with a newline that is not part of the secret.
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    const reason = errorMessage(error);
    throw new ConfigError(
      `The secret file ${file} cannot be read (${reason}). Make it a file that this user can read.`,
    );
  }
}
