import { ConfigError } from "../config/errors.ts";
import { AppError } from "../base/errors.ts";

import { UsageError } from "./output.ts";

/** 0 done, 1 failed, 2 wrong usage or configuration. */
function exitCodeOf(error: unknown): 1 | 2 {
  const isUsage =
    error instanceof UsageError || error instanceof ConfigError || faultyOptions(error) !== null;
  return isUsage ? 2 : 1;
}

/** Prints an error and sets the exit code. Of wrong settings each has a line of its own. */
export function reportFailure(error: unknown): void {
  const lines = error instanceof ConfigError ? error.messages : [messageOf(error)];
  for (const line of lines) console.error(`skyhook: ${line}`);
  process.exitCode = exitCodeOf(error);
}

/** An error on one line, without a stack trace. */
export function messageOf(error: unknown): string {
  if (error instanceof AppError) return faultyOptions(error) ?? causeOf(error) ?? error.detail;
  const message = error instanceof Error ? error.message : String(error);
  return message.replaceAll(/\s*\n\s*/g, " ");
}

/** Why something is unavailable, which clients are not told. */
function causeOf({ code, extras }: AppError): string | null {
  return code === "unavailable" && extras.cause instanceof Error ? messageOf(extras.cause) : null;
}

/** The fields that a verb found at fault, as the options they came from; null when there are none. */
function faultyOptions(error: unknown): string | null {
  if (!(error instanceof AppError) || error.extras.errors === undefined) return null;
  const faults = error.extras.errors.map((fault) => {
    const field = "pointer" in fault ? fault.pointer.replace(/^\//, "") : fault.parameter;
    return `--${field} is wrong; expected: ${fault.detail}`;
  });
  return faults.join("; ");
}

/** The system's or the database's own code for an error, as `EACCES`; null when it has none. */
export function codeOf(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  return typeof error.code === "string" ? error.code : null;
}
