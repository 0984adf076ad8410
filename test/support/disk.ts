import { rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { databaseIn } from "./load.ts";
import type { RunningServer } from "./program.ts";
import type { resources } from "./resources.ts";

/** A disk that a test fills and frees. */
export interface SmallDisk {
  readonly folder: string;
  /** What the server has to be started through. */
  readonly through: readonly string[];
  /** Leaves so many bytes to what the server writes. */
  fill(server: RunningServer, roomBytes: number): void;
  free(server: RunningServer): void;
}

/** Why a file system of our own cannot be mounted here; null when it can. */
export const whyNoMount = ((): string | null => {
  if (process.platform !== "linux") return "only Linux has tmpfs";
  const { success, stderr } = Bun.spawnSync(["unshare", "-m", "mount", "-t", "tmpfs", "-", "/mnt"]);
  return success ? null : stderr.toString().trim();
})();

/** Why the size of a process's files cannot be limited here; null when it can. */
export const whyNoLimit =
  Bun.which("prlimit") !== null && Bun.which("bash") !== null
    ? null
    : "bash and prlimit are not found";

/** A file system of 16 MiB in memory, full like any disk. Only root may mount one. */
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

/** The same without root: the server's files may not grow beyond a size. */
export function limitedFiles(taken: ReturnType<typeof resources>): SmallDisk {
  const folder = taken.newFolder();
  const limit = ({ pid }: RunningServer, bytes: number | "unlimited") =>
    run(["prlimit", `--fsize=${bytes}:unlimited`, "--pid", `${pid}`]);
  return {
    folder,
    // A write beyond the limit then fails, as on a full disk, instead of ending the process.
    through: ["bash", "-c", 'trap \'\' XFSZ; exec "$0" "$@"'],
    fill: (server, roomBytes) =>
      limit(server, statSync(`${databaseIn(folder)}-wal`).size + roomBytes),
    free: (server) => limit(server, "unlimited"),
  };
}

/** Runs a command that has to succeed. */
export function run(command: string[]): void {
  const { success, stderr } = Bun.spawnSync(command);
  if (!success) throw new Error(`${command.join(" ")}: ${stderr.toString()}`);
}
