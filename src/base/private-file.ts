import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";

/** Writes whole or not at all, readable by the owner only. On disk when this returns. */
export function writePrivately(file: string, content: string): void {
  const draft = draftOf(file, content);
  try {
    renameSync(draft, file);
  } finally {
    // Of drafts that got no name there would be one more each time, with a secret in it.
    rmSync(draft, { force: true });
  }
  syncNames(dirname(file));
}

/**
 * The same, but leaves a file alone that another process made in this moment: `skyhook serve` and
 * `skyhook token` started together must end up with one key.
 */
export function makePrivately(file: string, content: string): void {
  const draft = draftOf(file, content);
  try {
    linkSync(draft, file);
  } catch {
    // It is there by now, or the file system has no links and a rename must do.
    if (!existsSync(file)) renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
  syncNames(dirname(file));
}

function draftOf(file: string, content: string): string {
  // Not by the process id: those of two containers that share the folder are often the same.
  const draft = `${file}.${crypto.randomUUID()}.tmp`;
  const descriptor = openSync(draft, "wx", 0o600);
  try {
    chmodSync(draft, 0o600);
    writeFileSync(descriptor, content);
    // What is sealed with a key is on disk when it is acknowledged, and lost where the key is not.
    fsyncSync(descriptor);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
  return draft;
}

/** Waits until the names in a folder are on disk. Windows opens no folders, and keeps names in its journal. */
export function syncNames(folder: string): void {
  if (process.platform !== "win32") syncToDisk(folder);
}

/** Waits until a file, or the names in a folder, are on disk. */
export function syncToDisk(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
