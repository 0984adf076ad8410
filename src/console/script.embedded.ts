import { join } from "node:path";

/** The console's browser code as one script. The compiled program contains it. */
export const script = await bundlePage();

async function bundlePage(): Promise<string> {
  const entry = join(import.meta.dir, "page/main.tsx");
  // In a separate process: the program goes on, and its own settings do not change the script.
  const built = Bun.spawn([process.execPath, "build", entry, "--production"], { stderr: "pipe" });
  const [script, errors] = await Promise.all([built.stdout.text(), built.stderr.text()]);
  if ((await built.exited) === 0) return script;
  throw new Error(`failed to bundle the console: ${errors}`);
}
