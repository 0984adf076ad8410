import { AppError, errorMessage } from "../../base/errors.ts";
import { FileError } from "../../base/file-error.ts";
import { ConfigError } from "../../config/errors.ts";

import { UsageError } from "./output.ts";

/** 0 done, 1 failed, 2 wrong usage or configuration. */
function exitCodeOf(error: unknown): 1 | 2 {
  const isUsage =
    error instanceof UsageError || error instanceof ConfigError || invalidOptions(error) !== null;
  return isUsage ? 2 : 1;
}

const errorPrefix = "skyhook: ";

/** Prints an error and sets the exit code. Each invalid setting, and each error of a file, has its own line. */
export function reportError(error: unknown): void {
  const hasLines = error instanceof ConfigError || error instanceof FileError;
  const lines = hasLines ? error.messages : [messageOf(error)];
  for (const line of lines) console.error(errorPrefix + line);
  process.exitCode = exitCodeOf(error);
}

/** What Commander says of invalid usage, as other errors look: `error: unknown command 'sned'`, with a suggestion in a further line. */
export function usageLine(text: string): string {
  const [first = "", ...hints] = text
    .trim()
    .replace(/^error: /, "")
    .split("\n");
  const said = first.charAt(0).toUpperCase() + first.slice(1);
  return `${errorPrefix}${[said, ...hints.map((hint) => hint.replace(/^\((.*)\)$/, "$1"))].join(". ")}\n`;
}

/** An error on one line, without a stack trace. */
export function messageOf(error: unknown): string {
  if (error instanceof AppError) return invalidOptions(error) ?? causeOf(error) ?? error.detail;
  const message = errorMessage(error);
  return message.replaceAll(/\s*\n\s*/g, " ");
}

/** The cause of an `unavailable` error, which responses to clients do not contain. */
function causeOf({ code, extras }: AppError): string | null {
  return code === "unavailable" && extras.cause instanceof Error ? messageOf(extras.cause) : null;
}

/** The invalid fields of a service's error, as command-line options; null if there are none. */
function invalidOptions(error: unknown): string | null {
  if (!(error instanceof AppError) || error.extras.errors === undefined) return null;
  const invalid = error.extras.errors.map((each) => {
    const field = "pointer" in each ? each.pointer.replace(/^\//, "") : each.parameter;
    return `--${field} is invalid; expected: ${each.detail}`;
  });
  return invalid.join("; ");
}
