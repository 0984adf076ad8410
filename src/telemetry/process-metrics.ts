import { readdirSync, readFileSync } from "node:fs";
import { stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";

import Counter from "prom-client/lib/counter.js";
import Gauge from "prom-client/lib/gauge.js";
import type Registry from "prom-client/lib/registry.js";

import { histogramSeries } from "./series.ts";

/** How often the event loop is asked whether it is on time. */
const lagIntervalMs = 100;

/**
 * What every Prometheus client tells of its process, under the names that its guidelines give, with the
 * event loop's lag and the disk under the database. `databaseFile`: null where the database is none.
 */
export function processMetrics(registry: Registry, databaseFile: string | null) {
  const registers = [registry];
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const cpu = new Counter({
    name: "process_cpu_seconds_total",
    help: "Processor time used, user and system, in seconds",
    registers,
  });
  const started = gauge("process_start_time_seconds", "Start of the process, as Unix time");
  const memory = gauge("process_resident_memory_bytes", "Resident memory size in bytes");
  const openFds = gauge("process_open_fds", "Open file descriptors");
  const maxFds = gauge("process_max_fds", "Most file descriptors that the process may have open");
  const diskFree = gauge(
    "skyhook_database_disk_free_bytes",
    "Free space that the service may use, on the disk of the database",
  );
  const diskSize = gauge("skyhook_database_disk_size_bytes", "Size of the disk of the database");
  const databaseSize = gauge(
    "skyhook_database_size_bytes",
    "Size of the database's file and its write-ahead log",
  );
  const lag = histogramSeries(
    registry,
    {
      name: "skyhook_event_loop_lag_seconds",
      help: `How late the event loop ran a timer, sampled every ${lagIntervalMs} ms`,
    },
    [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  )({});
  started.set(Math.round(performance.timeOrigin) / 1_000);
  setOrRemove(maxFds, maxOpenFiles());
  let timer: NodeJS.Timeout | null = null;

  function watchLag(): void {
    let expectedMs = performance.now() + lagIntervalMs;
    timer = setInterval(() => {
      const nowMs = performance.now();
      lag.observe(Math.max(0, nowMs - expectedMs) / 1_000);
      expectedMs = nowMs + lagIntervalMs;
    }, lagIntervalMs);
    timer.unref();
  }

  async function readDisk(): Promise<void> {
    const figures = databaseFile === null ? null : await diskFiguresOf(databaseFile);
    setOrRemove(diskFree, figures?.free);
    setOrRemove(diskSize, figures?.size);
    setOrRemove(databaseSize, figures?.database);
  }

  return {
    start: watchLag,
    stop(): void {
      if (timer !== null) clearInterval(timer);
    },
    /** Brings all up to date, for a scrape. */
    async refresh(): Promise<void> {
      const { user, system } = process.cpuUsage();
      cpu.reset();
      cpu.inc((user + system) / 1_000_000);
      memory.set(process.memoryUsage.rss());
      setOrRemove(openFds, openFiles());
      await readDisk();
    },
  };
}

/** What is not known is missing; an old figure would look as if all were well. */
function setOrRemove(gauge: Gauge, value: number | undefined): void {
  if (value === undefined) gauge.remove();
  else gauge.set(value);
}

/** Null where the file, or its disk, cannot be seen. */
async function diskFiguresOf(file: string) {
  try {
    const [{ bavail, blocks, bsize }, { size }] = await Promise.all([
      statfs(dirname(file)),
      stat(file),
    ]);
    const log = await stat(`${file}-wal`).catch(() => null);
    return { free: bavail * bsize, size: blocks * bsize, database: size + (log?.size ?? 0) };
  } catch {
    return null;
  }
}

/** Only Linux tells; elsewhere there is no number. */
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
