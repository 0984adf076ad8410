import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { resources } from "./resources.ts";
import { notInstalled, onlyLinux } from "./skips.ts";

/** Why tests with a disk that stops are skipped; null when they run. */
export const whyNoSlowDisk = process.platform !== "linux" ? onlyLinux : notInstalled("cc");

/** Makes each sync to disk wait while the gate file exists; `<gate>.waits` then exists as well. */
const source = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void wait_at_gate(void) {
  const char *gate = getenv("SYNC_GATE");
  char note[4096];
  if (gate == NULL || access(gate, F_OK) != 0) return;
  snprintf(note, sizeof note, "%s.waits", gate);
  close(open(note, O_CREAT | O_WRONLY, 0600));
  while (access(gate, F_OK) == 0) usleep(1000);
}
int fsync(int file) {
  wait_at_gate();
  return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file);
}
int fdatasync(int file) {
  wait_at_gate();
  return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(file);
}
`;

/** A disk on which syncs can be stopped, for a server that starts with `env`. */
export function slowDisk(taken: ReturnType<typeof resources>) {
  const folder = taken.newFolder();
  const [library, gate] = [join(folder, "sync.so"), join(folder, "gate")];
  writeFileSync(join(folder, "sync.c"), source);
  const command = ["cc", "-shared", "-fPIC", "-o", library, "sync.c", "-ldl"];
  const { success, stderr } = Bun.spawnSync(command, { cwd: folder });
  if (!success) throw new Error(`cc: ${stderr.toString()}`);
  const resume = () => rmSync(gate, { force: true });
  taken.ends.push(resume);
  return {
    env: { LD_PRELOAD: library, SYNC_GATE: gate },
    stop() {
      rmSync(`${gate}.waits`, { force: true });
      writeFileSync(gate, "");
    },
    /** Whether a sync has been waiting since the last stop. */
    isWaitedFor: () => existsSync(`${gate}.waits`),
    resume,
  };
}
