import { join } from "node:path";

/**
 * The console's browser code, by file. `start.js` is short and waits for nothing. `page.js` needs `main.js`, the code that
 * all views share, and loads the rest later. The compiled program contains them.
 */
export const scripts = await bundleScripts();

async function bundleScripts(): Promise<Readonly<Record<string, string>>> {
  // Each entry on its own: what both need would become one more file to wait for.
  const program = `
    const texts = {};
    for (const [entry, name] of [["start.ts", "start.js"], ["main.tsx", "page.js"]]) {
      const naming = { entry: name, chunk: "[name].js" };
      const options = { entrypoints: [entry], splitting: true, minify: true, naming };
      const { outputs } = await Bun.build(options);
      for (const output of outputs) texts[output.path.replace("./", "")] = await output.text();
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
  return JSON.parse(texts);
}
