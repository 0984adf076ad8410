import { fstatSync } from "node:fs";

import pino from "pino";

import { type LogOutput, logOutput } from "./log-output.ts";
import { activeSpan, runDetached } from "./tracing/span.ts";

/** The structured log. Never log a secret, a signature or a body. */
export type Log = Pick<pino.Logger, "debug" | "info" | "warn" | "error">;

/** The log of the process, with access to its output. */
export type ProgramLog = Log & Pick<pino.Logger, "level"> & Pick<LogOutput, "dropped" | "drain">;

interface LogOptions {
  readonly level: "debug" | "info" | "warn" | "error" | "silent";
  readonly format: "auto" | "json" | "pretty";
  /** Whether entries include the ids of the active span. */
  readonly traces?: boolean;
  /** The file descriptor to write to. Default: standard output. */
  readonly fd?: number;
}

const standardOutput = 1;

/** Writes one JSON line per entry, or readable lines to a terminal. Logging never blocks or throws. */
export function createLog({
  level,
  format,
  traces = false,
  fd = standardOutput,
}: LogOptions): ProgramLog {
  const isPretty = format === "pretty" || (format === "auto" && isTerminal());
  // The gap concerns the whole process, not the active span.
  const output = logOutput(fd, (dropped) =>
    runDetached(() => log.error({ dropped }, "log output resumed; lines were dropped")),
  );
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      ...(traces && { mixin: traceFields }),
    },
    isPretty ? { write: (line) => output.write(prettyLine(line)) } : output,
  );
  return Object.assign(log, { dropped: output.dropped, drain: output.drain });
}

/** Checks the file type first, because accessing `process.stdout` loads streams, which slows the start. */
function isTerminal(): boolean {
  return fstatSync(standardOutput).isCharacterDevice() && process.stdout.isTTY;
}

/** Uses the field names that OpenTelemetry defines for logs in other formats. */
function traceFields(): object {
  const span = activeSpan();
  if (span === undefined) return {};
  return { trace_id: span.context.traceId, span_id: span.context.spanId };
}

const levelNames: Readonly<Record<number, string>> = { 20: "debug", 40: "WARN ", 50: "ERROR" };

/** Formats an entry as `09:12:44.120 message key=value …`, with the level unless it is info. */
function prettyLine(line: string): string {
  const entry: { level: number; time: string; msg?: string } = JSON.parse(line);
  const { level, time, msg = "", ...fields } = entry;
  const details = Object.entries(fields).map(([key, value]) => `${key}=${inline(value)}`);
  const name = levelNames[level];
  const parts = [time.slice(11, 23), name, msg, ...details];
  const text = parts.filter((part) => part !== undefined).join(" ");
  return `${text.replaceAll(unprintable, escaped)}\n`;
}

/** Characters that a terminal interprets, or that break or reorder a line. JSON does not escape all of them. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function inline(value: unknown): string {
  return typeof value === "string" && !/[\s"]/.test(value) ? value : JSON.stringify(value);
}
