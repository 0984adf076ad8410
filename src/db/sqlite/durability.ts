import type { Database } from "bun:sqlite";

/**
 * SQLite restarts the log from its beginning only when all pages are in the database and no reader needs the log. Under
 * steady load that never happens. From this length on, the storage thread checkpoints the last pages between two commits,
 * and the reading thread pauses after each read.
 */
export const longLogBytes = 64 * 2 ** 20;

/** Syncs the log on every commit, so that acknowledged data survives a power failure. */
export function syncCommits(client: Database): void {
  client.run("pragma synchronous = full");
  // On macOS, fsync leaves data in the cache of the drive; F_FULLFSYNC does not. Elsewhere, SQLite ignores
  // both settings, because fsync flushes that cache.
  client.run("pragma fullfsync = on");
  client.run("pragma checkpoint_fullfsync = on");
}

export const versionOf = (client: Database): string =>
  String(client.query("select sqlite_version()").values()[0]?.[0]);

/** Throws if this version of SQLite may corrupt a database in WAL mode. */
export function requireSafeSqlite(version: string): void {
  if (!hasWalResetBug(version)) return;
  throw new Error(
    `SQLite ${version} can corrupt a database while two connections checkpoint (WAL-reset bug, fixed in 3.51.3): run skyhook with Bun 1.4.5 or newer. On macOS, Bun uses the SQLite of the system: update macOS, or set DATABASE_URL to a PostgreSQL server`,
  );
}

/**
 * Whether this version of SQLite has the WAL-reset bug: a commit that restarts the log during a checkpoint
 * can be lost, which corrupts the database. 3.7.0 to 3.51.2 have it, except for two branches in which it was
 * fixed later (https://sqlite.org/wal.html#walresetbug). Bun 1.4.5 contains 3.54.1 on Linux and Windows.
 */
export function hasWalResetBug(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  if (major !== 3 || minor < 7 || minor > 51) return false;
  if (minor === 44) return patch < 6;
  if (minor === 50) return patch < 7;
  return minor < 51 || patch < 3;
}
