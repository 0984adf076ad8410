import { join } from "node:path";

/** The console's browser code. The compiled program contains it. */
export const { start, page, charts } = await bundleScripts();

/** `start` is short and does not wait for `page`, which loads `charts` when it shows one. */
interface Scripts {
  readonly start: string;
  readonly page: string;
  readonly charts: string;
}

async function bundleScripts(): Promise<Scripts> {
  // Each entry on its own: what both need would become a third file to wait for.
  const program = `
    const texts = [];
    for (const entry of ["start.ts", "main.tsx"]) {
      const naming = { chunk: "charts.js" };
      const options = { entrypoints: [entry], splitting: true, minify: true, naming };
      const { outputs } = await Bun.build(options);
      for (const output of outputs) texts.push(await output.text());
    }
    console.write(JSON.stringify(texts));`;
  // In a separate process: the program goes on, and its own settings do not change the scripts.
  const built = Bun.spawn([process.execPath, "-e", program], {
    cwd: join(import.meta.dir, "page"),
    env: { ...process.env, NODE_ENV: "production" },
    stderr: "pipe",
  });
  const [texts, errors] = await Promise.all([built.stdout.text(), built.stderr.text()]);
  if ((await built.exited) !== 0) throw new Error(`failed to bundle the console: ${errors}`);
  const [start = "", page = "", charts = ""]: readonly string[] = JSON.parse(texts);
  return { start, page, charts };
}
