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

/** CPU time of all running threads of a process so far, by the nanosecond; NaN without /proc. */
export function threadMicrosOf(pid: number): number {
  const folder = `/proc/${pid}/task`;
  if (!existsSync(folder)) return Number.NaN;
  const nanos = readdirSync(folder).map((thread) =>
    Number(readFileSync(`${folder}/${thread}/schedstat`, "utf8").split(" ")[0]),
  );
  return nanos.reduce((sum, each) => sum + each, 0) / nanosPerMicro;
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

/** CPU time of all processes and of the kernel so far; NaN without /proc. */
export function machineMicros(): number {
  if (!existsSync("/proc/stat")) return Number.NaN;
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0] = (
    readFileSync("/proc/stat", "utf8").split("\n")[0] ?? ""
  )
    .split(/ +/)
    .map(Number);
  return (user + nice + system + irq + softIrq) * microsPerTick;
}

const nanosPerMicro = 1_000;

/** What the main thread of a process has done so far, in microseconds; NaN where Linux does not report it. */
interface MainThread {
  readonly runMicros: number;
  /** Ready to run, but waiting for a core. */
  readonly waitMicros: number;
}

export function mainThreadOf(pid: number): MainThread {
  // In contrast to `stat`, it counts nanoseconds.
  const file = `/proc/${pid}/task/${pid}/schedstat`;
  if (!existsSync(file)) return { runMicros: Number.NaN, waitMicros: Number.NaN };
  const [run, wait] = readFileSync(file, "utf8").split(" ").map(Number);
  return { runMicros: Number(run) / nanosPerMicro, waitMicros: Number(wait) / nanosPerMicro };
}
