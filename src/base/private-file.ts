import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, resolve } from "node:path";

/** Writes a file atomically, readable by its owner only, and returns when it is on disk. */
export function writePrivately(file: string, content: string): void {
  const temporary = writeTemporary(file, content);
  try {
    renameSync(temporary, file);
  } finally {
    // If the rename failed, the temporary file remains, with a secret in it.
    rmSync(temporary, { force: true });
  }
  syncNames(dirname(file));
}

/**
 * Like `writePrivately`, but keeps the file if another process has created it meanwhile: `skyhook serve` and
 * `skyhook token`, started together, must use the same key.
 */
export function makePrivately(file: string, content: string): void {
  const temporary = writeTemporary(file, content);
  try {
    linkSync(temporary, file);
  } catch {
    // The file exists by now, or the file system does not support links: then rename.
    if (!existsSync(file)) renameSync(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
  syncNames(dirname(file));
}

/**
 * Creates a file that other users may read, atomically, and returns when it is on disk. Throws EEXIST if the name is
 * taken: it replaces nothing, and does not follow a symbolic link.
 */
export function createFile(file: string, content: string): void {
  const temporary = writeTemporary(file, content, 0o644);
  try {
    linkSync(temporary, file);
  } catch (error) {
    if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) throw error;
    // The file system does not support links.
    renameSync(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
  syncNames(dirname(file));
}

/**
 * Creates a folder that only its owner can read, unless it exists, and its missing parents. Returns when their names
 * are on disk: with a folder's name, a power failure would take everything in it.
 */
export function makePrivateFolder(folder: string): void {
  const missing: string[] = [];
  for (let path = resolve(folder); !existsSync(path); path = dirname(path)) missing.push(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const path of missing) syncNames(dirname(path));
}

/** Writes `content` to a temporary file beside `file`, synced to disk, and returns its path. */
function writeTemporary(file: string, content: string, mode = 0o600): string {
  // No process id in the name: containers that share the folder often have the same process ids.
  const temporary = `${file}.${crypto.randomUUID()}.tmp`;
  const descriptor = openSync(temporary, "wx", mode);
  try {
    chmodSync(temporary, mode);
    writeFileSync(descriptor, content);
    // The key must be on disk before any data that is encrypted with it.
    fsyncSync(descriptor);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
  return temporary;
}

/** Syncs a folder's entries to disk. Not needed on Windows: it cannot open folders, and journals their entries. */
export function syncNames(folder: string): void {
  if (process.platform !== "win32") syncToDisk(folder);
}

/** Syncs a file, or a folder's entries, to disk. */
export function syncToDisk(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
