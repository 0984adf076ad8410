import { afterAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A temporary folder for the tests of a file. */
export function folderForTests(): string {
  const folder = mkdtempSync(join(tmpdir(), "skyhook-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  return folder;
}
