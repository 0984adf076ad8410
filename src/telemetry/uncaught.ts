import { AsyncLocalStorage } from "node:async_hooks";

import { AppError, errorCode } from "../base/errors.ts";
import { unlessAborted } from "../base/in-time.ts";

import type { ProgramLog } from "./log.ts";

const failing = new AsyncLocalStorage<(error: unknown) => void>();

/** Runs an exchange with another server. An error in one of its callbacks rejects it and does not end the program. */
export async function containUncaught<Result>(exchange: () => Promise<Result>): Promise<Result> {
  const failed = new AbortController();
  return unlessAborted(
    failed.signal,
    failing.run((error) => failed.abort(error), exchange),
  );
}

/** How long the program waits for its last log lines before it ends. */
const logPatienceMs = 500;

/**
 * Handles uncaught errors and rejections. A rejected promise of the storage may be a write that is missing, and an error in
 * a callback may leave half a change in memory: then the program ends, because the next start recovers both.
 */
export function handleUncaught(log: ProgramLog): void {
  const end = (err: unknown) => {
    log.error({ err }, "uncaught error; stopping");
    void log.drain(logPatienceMs).then(() => process.exit(1));
  };
  process.on("uncaughtException", (err) => {
    const fail = failing.getStore();
    if (fail === undefined) return end(err);
    log.error({ err }, "uncaught error of an attempt to send");
    fail(err);
  });
  process.on("unhandledRejection", (err) => {
    if (isOfStorage(err)) end(err);
    else log.error({ err }, "unhandled rejection");
  });
}

const isOfStorage = (error: unknown) =>
  error instanceof AppError ||
  /^(?:SQLITE|SKYHOOK_STORAGE|ERR_POSTGRES)/.test(errorCode(error) ?? "");
