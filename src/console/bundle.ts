import { join } from "node:path";

/**
 * Bundles the console's browser code into one script. Call it as a macro: Bun then inlines the result, so
 * the compiled program needs neither the sources nor a bundler.
 */
export function bundlePage(): string {
  const entry = join(import.meta.dir, "page/main.tsx");
  // Runs in a separate process because Bun's bundler cannot be called from within a macro.
  const built = Bun.spawnSync([process.execPath, "build", entry, "--production"]);
  if (built.exitCode === 0) return built.stdout.toString();
  throw new Error(`failed to bundle the console: ${built.stderr.toString()}`);
}
