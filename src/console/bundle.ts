import { join } from "node:path";

/**
 * The console's program as one script for browsers. To be called as a macro: its result then stands in
 * the code, so that the compiled program carries it and needs neither sources nor a bundler.
 */
export function bundlePage(): string {
  const entry = join(import.meta.dir, "page/main.tsx");
  // In a process of its own: within a macro the bundler cannot be called again.
  const built = Bun.spawnSync([process.execPath, "build", entry, "--production"]);
  if (built.exitCode === 0) return built.stdout.toString();
  throw new Error(`The console cannot be bundled: ${built.stderr.toString()}`);
}
