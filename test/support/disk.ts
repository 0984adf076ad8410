import { rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { databaseIn } from "./load.ts";
import type { RunningServer } from "./program.ts";
import type { resources } from "./resources.ts";
import { notInstalled, notRoot, onlyLinux } from "./skips.ts";

/** A small disk that a test fills and frees. */
export interface SmallDisk {
  readonly folder: string;
  /** The command that starts the server on this disk. */
  readonly through: readonly string[];
  /** Limits the free space for the server to this many bytes. */
  fill(server: RunningServer, roomBytes: number): void;
  free(server: RunningServer): void;
}

/** Why tests on a mounted file system are skipped; null when they run. */
export const whyNoMount = ((): string | null => {
  if (process.platform !== "linux") return onlyLinux;
  const { success } = Bun.spawnSync(["unshare", "-m", "mount", "-t", "tmpfs", "-", "/mnt"]);
  if (success) return null;
  return notRoot ?? "the tests may not mount a file system";
})();

/** Why tests with a file size limit are skipped; null when they run. */
export const whyNoLimit = notInstalled("prlimit", "bash");

/** A tmpfs of 16 MiB, which fills up like a disk. Only root may mount one. */
export function mountedDisk(taken: ReturnType<typeof resources>): SmallDisk {
  const folder = taken.newFolder();
  run(["mount", "-t", "tmpfs", "-o", "size=16m", "skyhook", folder]);
  taken.ends.push(() => run(["umount", folder]));
  const ballast = join(folder, "ballast");
  return {
    folder,
    through: [],
    fill(_, roomBytes) {
      const { bavail, bsize } = statfsSync(folder);
      writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - roomBytes)));
    },
    free: () => rmSync(ballast),
  };
}

/** Works without root: limits the size of the server's files. */
export function limitedFiles(taken: ReturnType<typeof resources>): SmallDisk {
  const folder = taken.newFolder();
  const limit = ({ pid }: RunningServer, bytes: number | "unlimited") =>
    run(["prlimit", `--fsize=${bytes}:unlimited`, "--pid", `${pid}`]);
  return {
    folder,
    // Ignore SIGXFSZ, so that a write beyond the limit fails, as on a full disk, and does not end the process.
    through: ["bash", "-c", 'trap \'\' XFSZ; exec "$0" "$@"'],
    fill: (server, roomBytes) =>
      limit(server, statSync(`${databaseIn(folder)}-wal`).size + roomBytes),
    free: (server) => limit(server, "unlimited"),
  };
}

/** Runs a command. Throws unless it succeeds. */
export function run(command: string[]): void {
  const { success, stderr } = Bun.spawnSync(command);
  if (!success) throw new Error(`${command.join(" ")}: ${stderr.toString()}`);
}
