import { isBuiltin } from "node:module";
import { dirname, join, relative } from "node:path";
import { parseArgs } from "node:util";

import type { BunPlugin } from "bun";

import { installedPackages } from "../src/cli/packages.ts";
import { sourceCommit } from "../src/cli/program.ts";

/** What `--target` takes: where the program is to run. Without one: here. */
const targets = [
  "linux-x64",
  "linux-arm64",
  "linux-x64-musl",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
  "windows-x64",
] as const;
type Target = (typeof targets)[number];

const usage = `bun run build [--target ${targets.join("|")}] [--outfile FILE]`;

/** How much longer than usual the JIT holds back, until the program says that it serves. */
const startJitPolicy = 8;

/**
 * Compiles a program with all that it imports into one file, the runtime with it. For another target Bun
 * fetches that platform's runtime from the package registry, once. Throws what went wrong.
 */
export async function compile(
  entrypoint: string,
  outfile: string,
  target?: Target,
): Promise<readonly string[]> {
  const { outputs } = await Bun.build({
    entrypoints: [entrypoint],
    compile: {
      outfile,
      jitPolicy: startJitPolicy,
      // What happens to lie in the folder it is started in must not change what it does.
      autoloadBunfig: false,
      ...(target !== undefined && { target: `bun-${target}` as const }),
    },
    // A start loads the parts that it needs, as bytecode.
    splitting: true,
    format: "esm",
    bytecode: true,
    minify: true,
    define: {
      SKYHOOK_COMMIT: JSON.stringify(builtCommit()),
      SKYHOOK_PACKAGES: JSON.stringify(installedPackages(root)),
    },
    plugins: [sameEverywhere],
  });
  return outputs.filter(({ kind }) => kind === "entry-point").map(({ path }) => path);
}

const root = join(import.meta.dir, "..");

/** Has the program depend on the source and the packages it needs, and on nothing else of this machine. */
export const sameEverywhere: BunPlugin = {
  name: "same everywhere",
  setup(build) {
    // Bun puts the folder of a package's file in for its `__dirname`, and the program would hold where it was
    // built. The packages use it for worker threads, which we do not start.
    build.onLoad({ filter: /[\\/]node_modules[\\/].*\.c?js$/ }, async ({ path }) => {
      const code = await Bun.file(path).text();
      if (!/\b__(?:dir|file)name\b/.test(code)) return undefined;
      const place = relative(root, path);
      const contents = code
        .replaceAll(/\b__dirname\b/g, JSON.stringify(dirname(place)))
        .replaceAll(/\b__filename\b/g, JSON.stringify(place));
      return { contents, loader: "js" };
    });
    // A package may try whether another is there, as `debug` does, and find one that only our tools need.
    const needed = new Set(installedPackages(root).map(({ name }) => name));
    build.onResolve({ filter: /^(?:@[\w.-]+\/)?[\w.-]+$/ }, ({ path, importer }) => {
      const isTried = importer.includes("node_modules") && !needed.has(path) && !isBuiltin(path);
      return isTried ? { path, external: true } : undefined;
    });
  },
};

/** Where the source comes without its git, as into an image, whoever builds says of which commit it is. */
export function builtCommit(): string {
  const said = process.env["SKYHOOK_COMMIT"] ?? "";
  // Empty where its `git describe` failed.
  return said === "" || said === "unknown" ? sourceCommit() : said;
}

function targetOf(text: string | undefined): Target | undefined {
  if (text === undefined) return undefined;
  const target = targets.find((known) => known === text.replace(/^bun-/, ""));
  if (target === undefined) throw new Error(`There is no target ${text}.\n${usage}`);
  return target;
}

async function run(): Promise<void> {
  const { values } = parseArgs({
    options: { target: { type: "string" }, outfile: { type: "string" } },
  });
  const target = targetOf(values.target);
  const name = target === undefined ? "skyhook" : `skyhook-${target}`;
  try {
    const [file = ""] = await compile(
      join(import.meta.dir, "../src/main.ts"),
      values.outfile ?? join(import.meta.dir, "../dist", name),
      target,
    );
    console.log(`${file}  ${(Bun.file(file).size / 1e6).toFixed(0)} MB`);
  } catch (error) {
    const advice =
      target === undefined
        ? ""
        : `\nBun needs its runtime for ${target} from the package registry: is that reachable?`;
    throw new Error(`Not built: ${String(error)}${advice}`, { cause: error });
  }
}

if (import.meta.main) {
  await run().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  });
}
