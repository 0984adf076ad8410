import { ConfigError } from "../config.ts";
import { AppError } from "../errors.ts";

import { UsageError } from "./output.ts";

/** 0 done, 1 failed, 2 wrong usage or configuration. */
export function exitCodeOf(error: unknown): 1 | 2 {
  const isUsage =
    error instanceof UsageError ||
    error instanceof ConfigError ||
    (error instanceof AppError && error.code === "invalid-parameter");
  return isUsage ? 2 : 1;
}

/** An error on one line, without a stack trace. */
export function messageOf(error: unknown): string {
  if (error instanceof AppError) return error.detail;
  const message = error instanceof Error ? error.message : String(error);
  return message.replaceAll(/\s*\n\s*/g, " ");
}

/** The system's or the database's own code for an error, as `EACCES`; null when it has none. */
export function codeOf(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  return typeof error.code === "string" ? error.code : null;
}
