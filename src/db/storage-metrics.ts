import { stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";

import { type Metrics, setOrRemove } from "../telemetry/metrics.ts";

/** Measures commits, and the disk that the database is on. `file`: null when the database is not a file. */
export function storageMetrics(metrics: Metrics, file: string | null) {
  const seconds = metrics.histogram({
    name: "skyhook_storage_commit_duration_seconds",
    help: "Time that a commit of the database took, its sync to disk included",
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  });
  const transactions = metrics.histogram({
    name: "skyhook_storage_commit_transactions",
    help: "Transactions that shared one commit",
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
  });
  const diskFree = metrics.gauge({
    name: "skyhook_database_disk_free_bytes",
    help: "Free space that the service may use, on the disk of the database",
  });
  const diskSize = metrics.gauge({
    name: "skyhook_database_disk_size_bytes",
    help: "Size of the disk of the database",
  });
  const databaseSize = metrics.gauge({
    name: "skyhook_database_size_bytes",
    help: "Size of the database's file and its write-ahead log",
  });
  metrics.onScrape(async () => {
    const usage = file === null ? null : await diskUsageOf(file);
    setOrRemove(diskFree, usage?.free);
    setOrRemove(diskSize, usage?.size);
    setOrRemove(databaseSize, usage?.database);
  });

  return {
    committed(elapsedSeconds: number, inGroup: number): void {
      seconds.observe(elapsedSeconds);
      transactions.observe(inGroup);
    },
  };
}

/** As the alert SkyhookDiskFull (deploy/prometheus-rules.yaml). */
const leastFreeRatio = 0.03;

/** What is wrong with the disk of the database; null if it has room, or is not known. */
export async function diskTrouble(file: string | null): Promise<string | null> {
  const usage = file === null ? null : await diskUsageOf(file);
  const isFull = usage !== null && usage.free / usage.size < leastFreeRatio;
  return isFull ? "the disk of the database is nearly full" : null;
}

/** Null when the file or its disk cannot be read. */
async function diskUsageOf(file: string) {
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
