import { fstatSync } from "node:fs";

import pino from "pino";

import { type LogOutput, logOutput } from "./log-output.ts";
import { activeSpan, detached } from "./tracing/span.ts";

/** Structured log. Never given a secret, a signature or a body. */
export type Log = Pick<pino.Logger, "debug" | "info" | "warn" | "error">;

/** The log of a whole program, with what becomes of its lines. */
export type ProgramLog = Log & Pick<LogOutput, "dropped" | "drain">;

export interface LogOptions {
  readonly level: "debug" | "info" | "warn" | "error" | "silent";
  readonly format: "auto" | "json" | "pretty";
  /** Whether entries say which span they belong to. */
  readonly traces?: boolean;
  /** The file descriptor to write to; by default standard output. */
  readonly fd?: number;
}

const standardOutput = 1;

/** One JSON line an entry, or readable lines on a terminal. Logging never blocks and never throws. */
export function createLog({
  level,
  format,
  traces = false,
  fd = standardOutput,
}: LogOptions): ProgramLog {
  const isPretty = format === "pretty" || (format === "auto" && isTerminal());
  // The lines are missing to the whole program, not to the span whose line came first.
  const output = logOutput(fd, (dropped) =>
    detached(() => log.error({ dropped }, "log output resumed; lines were dropped")),
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

/** Asks the file first: `process.stdout` loads all that streams need, which a start can do without. */
function isTerminal(): boolean {
  return fstatSync(standardOutput).isCharacterDevice() && process.stdout.isTTY;
}

/** The names that OpenTelemetry gives them in logs that are not its own. */
function traceFields(): object {
  const span = activeSpan();
  if (span === undefined) return {};
  return { trace_id: span.context.traceId, span_id: span.context.spanId };
}

const levelNames: Readonly<Record<number, string>> = { 20: "debug", 40: "WARN ", 50: "ERROR" };

/** `09:12:44.120 message key=value …`; the level is shown where it is not info. */
function prettyLine(line: string): string {
  const entry: { level: number; time: string; msg?: string } = JSON.parse(line);
  const { level, time, msg = "", ...fields } = entry;
  const details = Object.entries(fields).map(([key, value]) => `${key}=${inline(value)}`);
  const name = levelNames[level];
  const parts = [time.slice(11, 23), name, msg, ...details];
  const text = parts.filter((part) => part !== undefined).join(" ");
  return `${text.replaceAll(unprintable, escaped)}\n`;
}

/** What a terminal obeys rather than shows, or that breaks or turns the line. JSON leaves some of it. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function inline(value: unknown): string {
  return typeof value === "string" && !/[\s"]/.test(value) ? value : JSON.stringify(value);
}
