import { existsSync } from "node:fs";
import { join } from "node:path";

/** The folder of the packages that the vendors publish. They are no packages of Skyhook's. */
const folder = import.meta.dir;
export const packages = join(folder, "node_modules");

const timeoutMs = 90_000;

/**
 * Installs the vendors' packages at their locked versions, if that was not done yet, into this folder only. Returns why
 * they cannot be had, or null. Throws if the lock file does not fit.
 */
export async function installSdks(): Promise<string | null> {
  const done = join(packages, ".installed");
  const lock = await Bun.file(join(folder, "bun.lock")).text();
  if (existsSync(done) && (await Bun.file(done).text()) === lock) return null;
  console.log("installing the vendors' packages for webhooks (some 370 MB, once)");
  const args = ["--frozen-lockfile", "--ignore-scripts", "--cache-dir", "node_modules/.cache"];
  const started = performance.now();
  const child = Bun.spawn([process.execPath, "install", ...args, "--cwd", folder], {
    cwd: folder,
    stdout: "ignore",
    stderr: "pipe",
    timeout: timeoutMs,
  });
  const [messages, code] = await Promise.all([child.stderr.text(), child.exited]);
  if (code === 0) {
    await Bun.write(done, lock);
    console.log(`installed in ${Math.round((performance.now() - started) / 1_000)} s`);
    return null;
  }
  const error =
    /^error: (.+)$/m.exec(messages)?.[1] ?? `it took longer than ${timeoutMs / 1_000} s`;
  console.log(error);
  // Anything else is an error of ours.
  if (!/download|resolve|fetch|longer/.test(error)) throw new Error(messages);
  return "the package registry does not return the vendors' packages";
}
