import { join } from "node:path";

import { atExit } from "./processes.ts";

/** Delays every sync by FSYNC_DELAY_MS, as a cloud volume does. The delay blocks only the calling thread. */
const source = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
static int slowly(const char *name, int fd) {
  const char *text = getenv("FSYNC_DELAY_MS");
  long ms = text ? atol(text) : 0;
  nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, 0);
  return ((int (*)(int))dlsym(RTLD_NEXT, name))(fd);
}
int fsync(int fd) { return slowly("fsync", fd); }
int fdatasync(int fd) { return slowly("fdatasync", fd); }
`;

/** The environment of programs whose syncs take `fsyncMs` longer. Compiles a library into `folder`. */
export async function slowDisk(folder: string, fsyncMs: number): Promise<Record<string, string>> {
  if (fsyncMs === 0) return {};
  const library = join(folder, "slow-disk.so");
  if (!(await Bun.file(library).exists())) {
    const code = join(folder, "slow-disk.c");
    await Bun.write(code, source);
    const { success, stderr } = Bun.spawnSync([
      "cc",
      "-O2",
      "-shared",
      "-fPIC",
      "-o",
      library,
      code,
    ]);
    if (!success) throw new Error(`cc cannot compile the slow disk: ${stderr.toString()}`);
  }
  return { LD_PRELOAD: library, FSYNC_DELAY_MS: String(fsyncMs) };
}

/** The median time of a synced commit of one small row in `folder`, in milliseconds. */
export async function commitMs(
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<number> {
  const child = Bun.spawn(["bun", join(import.meta.dir, "servers/commits.ts")], {
    env: { PATH: process.env["PATH"], ...environment, DATABASE: join(folder, "commits.db") },
    stdout: "pipe",
    stderr: "inherit",
  });
  const unregister = atExit(() => child.kill("SIGKILL"));
  const output = await child.stdout.text();
  unregister();
  if ((await child.exited) !== 0) throw new Error("The commits failed. See the output above.");
  return Number(output);
}
