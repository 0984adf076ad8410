import { existsSync, readFileSync } from "node:fs";

/** Latencies in buckets of 10 µs up to 2 s. Longer ones count as 2 s. */
export interface Histogram {
  record(milliseconds: number): void;
  /** The latency in milliseconds at a quantile from 0 to 1. */
  quantile(quantile: number): number;
}

const bucketsPerMs = 100;
const longestMs = 2_000;

export function histogram(): Histogram {
  const counts = new Uint32Array(longestMs * bucketsPerMs + 1);
  return {
    record(milliseconds) {
      const bucket = Math.min(Math.floor(milliseconds * bucketsPerMs), counts.length - 1);
      counts[bucket] = (counts[bucket] ?? 0) + 1;
    },
    quantile(quantile) {
      const wanted = quantile * counts.reduce((sum, count) => sum + count, 0);
      let seen = 0;
      const bucket = counts.findIndex((count) => (seen += count) >= wanted);
      return (bucket + 1) / bucketsPerMs;
    },
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
  return (lower + upper) / 2;
}

/** Linux reports CPU time in ticks of 10 ms (`getconf CLK_TCK`). */
const microsPerTick = 10_000;

/** User and system CPU time of all threads of a process so far; NaN without /proc. */
export function cpuMicrosOf(pid: number): number {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return Number.NaN;
  const stat = readFileSync(file, "utf8");
  // The second field is the program name in brackets and may contain spaces. Parse the fields after it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [userTicks, systemTicks] = [Number(fields[11]), Number(fields[12])];
  return (userTicks + systemTicks) * microsPerTick;
}
