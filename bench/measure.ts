import { existsSync, readdirSync, readFileSync } from "node:fs";

import { build } from "hdr-histogram-js";

/** Latencies with three significant digits. */
interface Histogram {
  record(milliseconds: number): void;
  /** The latency in milliseconds at a quantile from 0 to 1. */
  quantile(quantile: number): number;
  readonly count: () => number;
}

const microsPerMs = 1_000;
/** Longer latencies count as ten minutes. */
const longestMicros = 600_000_000;

export function histogram(): Histogram {
  const latencies = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: longestMicros,
    numberOfSignificantValueDigits: 3,
  });
  return {
    record(milliseconds) {
      const micros = Math.max(0, Math.round(milliseconds * microsPerMs));
      latencies.recordValue(Math.min(micros, longestMicros));
    },
    quantile: (quantile) => latencies.getValueAtPercentile(quantile * 100) / microsPerMs,
    count: () => latencies.totalCount,
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

/** CPU time of all processes of a program so far, with those that have ended under a running one. */
export function programMicros(program: string): number {
  let ticks = 0;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const [, name, rest = ""] =
        /\((.*)\) (.*)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
      const fields = rest.split(" ");
      // User and system time of the process, then of its children that it has waited for.
      if (name === program) for (const field of fields.slice(11, 15)) ticks += Number(field);
    } catch {
      // The process has ended.
    }
  }
  return ticks * microsPerTick;
}

const nanosPerMicro = 1_000;

/** Microseconds that the threads of a process that have not ended have run. More precise than `cpuMicrosOf`. */
export const threadMicrosOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + mainMicrosOf(pid, thread), 0);

/** Microseconds that a thread, by default the main thread, has run; NaN where Linux does not report it. */
export function mainMicrosOf(pid: number, thread: number | string = pid): number {
  // In contrast to `stat`, it counts nanoseconds.
  const file = `/proc/${pid}/task/${thread}/schedstat`;
  if (!existsSync(file)) return Number.NaN;
  return Number(readFileSync(file, "utf8").split(" ")[0]) / nanosPerMicro;
}
