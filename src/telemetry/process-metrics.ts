import { readdirSync, readFileSync } from "node:fs";

import { version } from "../base/version.ts";

import { type Metrics, setOrRemove } from "./metrics.ts";

/** The sampling interval of the event loop lag. */
const lagIntervalMs = 100;

/**
 * The process metrics that Prometheus' guidelines recommend for client libraries, the version of the program
 * and the lag of the event loop.
 */
export function processMetrics(metrics: Metrics) {
  const cpu = metrics.counter({
    name: "process_cpu_seconds_total",
    help: "User and system CPU time in seconds",
  });
  const started = metrics.gauge({
    name: "process_start_time_seconds",
    help: "Start time of the process as Unix time in seconds",
  });
  const memory = metrics.gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory size in bytes",
  });
  const openFds = metrics.gauge({ name: "process_open_fds", help: "Open file descriptors" });
  const maxFds = metrics.gauge({
    name: "process_max_fds",
    help: "Limit of open file descriptors",
  });
  const build = metrics.gauge({
    name: "skyhook_build_info",
    help: "Always 1; the labels are the versions of Skyhook and Bun",
    labels: ["version", "bun_version"],
  });
  const lag = metrics.histogram({
    name: "skyhook_event_loop_lag_seconds",
    help: `Delay of a timer in the event loop, sampled every ${lagIntervalMs} ms`,
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  });
  let timer: NodeJS.Timeout | undefined;

  build.set({ version, bun_version: Bun.version }, 1);
  started.set(Math.round(performance.timeOrigin) / 1_000);
  setOrRemove(maxFds, maxOpenFiles());
  metrics.onScrape(() => {
    const { user, system } = process.cpuUsage();
    cpu.reset();
    cpu.inc((user + system) / 1_000_000);
    memory.set(process.memoryUsage.rss());
    setOrRemove(openFds, openFiles());
  });

  return {
    /** Starts sampling the event loop. */
    start(): void {
      let expectedMs = performance.now() + lagIntervalMs;
      timer = setInterval(() => {
        const nowMs = performance.now();
        lag.observe(Math.max(0, nowMs - expectedMs) / 1_000);
        expectedMs = nowMs + lagIntervalMs;
      }, lagIntervalMs);
      timer.unref();
    },
    stop(): void {
      clearInterval(timer);
    },
  };
}

/** Undefined on systems without `/proc`. */
function openFiles(): number | undefined {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return undefined;
  }
}

function maxOpenFiles(): number | undefined {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}

/** `dropped` returns the number of log lines dropped so far. */
export function logMetrics(metrics: Metrics, dropped: () => number): void {
  const lines = metrics.counter({
    name: "skyhook_log_dropped_total",
    help: "Log lines dropped because standard output was not writable: the disk is full or the reader stopped",
  });
  metrics.onScrape(() => {
    lines.reset();
    lines.inc(dropped());
  });
}
