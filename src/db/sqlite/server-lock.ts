import { Database } from "bun:sqlite";
import { chmodSync, existsSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";

import { makePrivateFolder, writePrivately } from "../../base/private-file.ts";

import { isLocked } from "./errors.ts";
import { filesOf, identityOf, realFile } from "./in-place.ts";

/** A command checks the lock by taking it briefly, so a start waits this long for it. */
const lookMs = 1_000;

/** A lock on the folder of a database. */
interface ServerLock {
  /** Records for commands which files the server has open. */
  opened(): void;
  /** Records for commands that the server has loaded all secrets again, and which variables override files. */
  reloaded(overriding: readonly string[]): void;
  release(): void;
}

/** What a server records about itself beside the lock. */
interface Holder {
  readonly pid: number;
  readonly host: string;
  /** The result of `identityOf` for each database file; empty before they are open. */
  readonly files: readonly (string | null)[];
  /** How often it has loaded all secrets again. An older version does not say. */
  readonly reloads?: number;
  /** Variables of its environment that override stored secrets, as of its last reload. */
  readonly overriding?: readonly string[];
  /** Where its process id counts: containers can share the host's name. Null where that is not known. */
  readonly processes?: string | null;
}

/**
 * Prevents other servers from using a database in the folder of `file` until this process ends. The lock is
 * SQLite's file lock on the empty database `skyhook.lock`, so the operating system releases it even after a
 * kill. Process ids do not suffice: they are reused, and each container has its own. Throws an error that
 * names the other server.
 */
export function lockFolder(file: string): ServerLock {
  makePrivateFolder(dirname(file));
  const { lock, note } = lockFilesOf(file);
  const held = exclusiveLock(lock);
  if (held === null) {
    throw new Error(
      `${named(holderIn(note))} already serves the database in ${dirname(lock)}: stop it first, or set DATA_DIR or DATABASE_URL to another folder`,
    );
  }
  let reloads = 0;
  let overriding: readonly string[] = [];
  let files: Holder["files"] = [];
  try {
    // Left behind by a server that was killed.
    rmSync(note, { force: true });
    say();
  } catch (error) {
    held.release();
    throw error;
  }

  function say(): void {
    const holder: Holder = {
      pid: process.pid,
      host: hostname(),
      processes: processNamespace(),
      files,
      reloads,
      overriding,
    };
    writePrivately(note, `${JSON.stringify(holder)}\n`);
  }

  return {
    opened(): void {
      files = filesOf(file).map(identityOf);
      say();
    },
    reloaded(variables): void {
      reloads += 1;
      overriding = variables;
      try {
        say();
      } catch {
        // On a full disk, a command does not learn of it. The server must go on.
      }
    },
    release(): void {
      rmSync(note, { force: true });
      held.release();
    },
  };
}

/**
 * Takes the lock that an empty database at `path` is, or returns null if another process has it. The operating
 * system releases it when the process ends.
 */
export function exclusiveLock(path: string): { release(): void } | null {
  const client = new Database(path, { create: true });
  try {
    chmodSync(path, 0o600);
    client.run(`pragma busy_timeout = ${lookMs}`);
    // Nothing is ever written to it.
    client.run("pragma journal_mode = memory");
    client.run("begin exclusive");
    return { release: () => client.close() };
  } catch (error) {
    client.close();
    if (isLocked(error)) return null;
    throw error;
  }
}

/**
 * Throws when the database's files were replaced while a server has the old ones open. The server would
 * never see what a command writes into the new files, and might overwrite it.
 */
export function requireServedFiles(file: string): void {
  const { lock, note } = lockFilesOf(file);
  if (!existsSync(lock) || !isHeld(lock)) return;
  const holder = holderIn(note);
  if (holder === null || holder.files.length === 0) return;
  const moved = filesOf(file).find((name, index) => identityOf(name) !== holder.files[index]);
  if (moved === undefined) return;
  throw new Error(
    `${moved} was removed or replaced while ${named(holder)} has it open: stop that, then start skyhook again`,
  );
}

/** The server that uses the database from this machine; null if there is none or its process is unknown. */
export function serverOf(file: string): Pick<Holder, "pid" | "reloads" | "overriding"> | null {
  const { lock, note } = lockFilesOf(file);
  if (!existsSync(lock) || !isHeld(lock)) return null;
  const holder = holderIn(note);
  const isHere = holder?.host === hostname() && (holder.processes ?? null) === processNamespace();
  return isHere ? holder : null;
}

/** The PID namespace of this process (Linux, namespaces(7)); null elsewhere. */
function processNamespace(): string | null {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return null;
  }
}

function lockFilesOf(file: string) {
  const folder = dirname(realFile(file));
  return { lock: join(folder, "skyhook.lock"), note: join(folder, "skyhook.lock.json") };
}

function isHeld(lock: string): boolean {
  using client = new Database(lock, { readonly: true });
  try {
    client.query("select 1 from sqlite_schema").all();
    return false;
  } catch (error) {
    if (isLocked(error)) return true;
    throw error;
  }
}

/** Null when the note does not exist yet or cannot be read. */
function holderIn(note: string): Holder | null {
  try {
    // Guarantee: only `say` above writes it, atomically.
    return JSON.parse(readFileSync(note, "utf8")) as Holder;
  } catch {
    return null;
  }
}

function named(holder: Holder | null): string {
  if (holder === null) return "Another skyhook";
  const where = holder.host === hostname() ? "" : ` on ${holder.host}`;
  return `Another skyhook (process ${holder.pid}${where})`;
}
