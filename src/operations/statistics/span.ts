import { checkedInstant, invalidParameter, single, wholeNumber } from "../../base/parameters.ts";

/** A time span in milliseconds since the epoch, aligned to whole steps. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
  /** A multiple of 60. */
  readonly stepSeconds: number;
}

const hourMs = 3_600_000;
const maxStepSeconds = 86_400;

/** The requested span, in at most `maxPoints` whole steps. Throws `invalid-parameter`. */
export function readSpan(query: URLSearchParams, nowMs: number, maxPoints: number): Span {
  const stepSeconds = wholeNumber(query, "step", 60) ?? 60;
  if (stepSeconds % 60 !== 0 || stepSeconds > maxStepSeconds) {
    throw invalidParameter("step", `Must be a multiple of 60 up to ${maxStepSeconds} seconds`);
  }
  const to = timeOf(query, "to") ?? nowMs;
  const from = timeOf(query, "from") ?? to - hourMs;
  if (from >= to) throw invalidParameter("from", "Must be before to");
  const stepMs = stepSeconds * 1_000;
  const fromMs = Math.floor(from / stepMs) * stepMs;
  const toMs = Math.ceil(to / stepMs) * stepMs;
  if ((toMs - fromMs) / stepMs > maxPoints) {
    throw invalidParameter("step", `Results in more than ${maxPoints} points. Use a longer step.`);
  }
  return { fromMs, toMs, stepSeconds };
}

/** A time in a query, in milliseconds since the epoch, or undefined if it is missing. */
function timeOf(query: URLSearchParams, name: string): number | undefined {
  const value = single(query, name);
  if (value === undefined) return undefined;
  const ms = checkedInstant(name, value).getTime();
  // Before it, steps could begin at negative times.
  if (ms < hourMs) throw invalidParameter(name, "Must be a time since 1970");
  return ms;
}
