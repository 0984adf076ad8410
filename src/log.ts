import { fstatSync } from "node:fs";

import pino from "pino";

import { activeSpan } from "./telemetry/tracing/span.ts";

/** Structured log. Never given a secret, a signature or a body. */
export type Log = Pick<pino.Logger, "debug" | "info" | "warn" | "error">;

export interface LogOptions {
  readonly level: "debug" | "info" | "warn" | "error" | "silent";
  readonly format: "auto" | "json" | "pretty";
  /** Whether entries say which span they belong to. */
  readonly traces?: boolean;
}

const standardOutput = 1;

/** A log on standard output: one JSON line an entry, or readable lines on a terminal. */
export function createLog({ level, format, traces = false }: LogOptions): Log {
  const pretty = format === "pretty" || (format === "auto" && isTerminal());
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    ...(traces && { mixin: traceFields }),
  };
  return pretty
    ? pino(options, { write: writePretty })
    : pino(options, pino.destination({ dest: standardOutput, sync: true }));
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
function writePretty(line: string): void {
  const entry: { level: number; time: string; msg?: string } = JSON.parse(line);
  const { level, time, msg = "", ...fields } = entry;
  const details = Object.entries(fields).map(([key, value]) => `${key}=${inline(value)}`);
  const name = levelNames[level];
  const parts = [time.slice(11, 23), name, msg, ...details];
  const text = parts.filter((part) => part !== undefined).join(" ");
  process.stdout.write(`${text.replaceAll(unprintable, escaped)}\n`);
}

/** What a terminal obeys rather than shows, or that breaks or turns the line. JSON leaves some of it. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function inline(value: unknown): string {
  return typeof value === "string" && !/[\s"]/.test(value) ? value : JSON.stringify(value);
}
