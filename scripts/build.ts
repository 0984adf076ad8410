import { isBuiltin } from "node:module";
import { dirname, join, relative } from "node:path";
import { parseArgs } from "node:util";

import type { BunPlugin } from "bun";

import { sourceCommit } from "../src/cli/kit/program.ts";

import { signedAdHoc } from "./mach-o.ts";
import { installedPackages } from "./packages.ts";
import { releaseOrNull } from "./release-key.ts";

/** The platforms that `--target` supports. Default: the current platform. */
export const targets = [
  "linux-x64",
  "linux-arm64",
  "linux-x64-musl",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
  "windows-x64",
] as const;
export type Target = (typeof targets)[number];

const usage = `bun run build [--target ${targets.join("|")}] [--outfile FILE]`;

/** The factor by which JIT compilation is delayed until the program serves requests. */
const startJitPolicy = 8;

/**
 * Compiles a program, its imports and the runtime into a single file. `entrypoints`: first the program, then
 * the threads that it starts. For another target, Bun downloads the runtime of that platform from the package
 * registry once. Returns the paths of the executables.
 */
export async function compile(
  entrypoints: readonly string[],
  outfile: string,
  target?: Target,
): Promise<readonly string[]> {
  const { outputs } = await Bun.build({
    entrypoints: [...entrypoints],
    // All in one folder, together with the shared code, so that a thread is found by its name alone.
    naming: { entry: "[name].[ext]" },
    compile: {
      outfile,
      jitPolicy: startJitPolicy,
      // Files in the working directory must not change the behaviour of the program.
      autoloadBunfig: false,
      ...(target !== undefined && { target: `bun-${target}` as const }),
    },
    // The program loads its parts on demand, as bytecode.
    splitting: true,
    format: "esm",
    bytecode: true,
    // Not the identifiers: the bundler names the module of a CommonJS package `m` wherever it is imported on demand,
    // also where its own helper has got the name `m` (Bun 1.4.5), and the import then fails.
    minify: { syntax: true, whitespace: true },
    define: {
      SKYHOOK_COMMIT: JSON.stringify(builtCommit()),
      SKYHOOK_RELEASE: JSON.stringify(releaseOrNull(root)),
    },
    plugins: [sameEverywhere, embedded],
  });
  const files = outputs.filter(({ kind }) => kind === "entry-point").map(({ path }) => path);
  const platform = target ?? `${process.platform}-${process.arch}`;
  if (platform === "darwin-x64") await Promise.all(files.map(signAgain));
  return files;
}

/**
 * Signs a program for Intel Macs. Bun leaves it with the signature of its own runtime, which does not match the
 * program. Its programs for ARM are signed correctly.
 */
async function signAgain(file: string): Promise<void> {
  await Bun.write(file, signedAdHoc(await Bun.file(file).bytes(), "skyhook"));
}

const root = join(import.meta.dir, "..");

/** The entry points of Skyhook. */
export const skyhookEntrypoints: readonly string[] = [
  "main.ts",
  "db/sqlite/storage-thread.ts",
  "db/sqlite/checkpoint-thread.ts",
  "db/sqlite/reading-thread.ts",
  "outbound/transports/brokers/broker-thread.ts",
].map((file) => join(root, "src", file));

/** Makes the output depend only on the source code and its packages, not on the machine. */
export const sameEverywhere: BunPlugin = {
  name: "same everywhere",
  setup(build) {
    // Bun replaces `__dirname` by the absolute path of the file, which would make the output depend on the build
    // folder. Packages use it only for worker threads of their own, which Skyhook does not start.
    build.onLoad({ filter: /[\\/]node_modules[\\/].*\.c?js$/ }, async ({ path }) => {
      const code = await Bun.file(path).text();
      if (!/\b__(?:dir|file)name\b/.test(code)) return undefined;
      const relativePath = relative(root, path);
      const contents = code
        .replaceAll(/\b__dirname\b/g, JSON.stringify(dirname(relativePath)))
        .replaceAll(/\b__filename\b/g, JSON.stringify(relativePath));
      return { contents, loader: "js" };
    });
    // Some packages, such as `debug`, import optional packages, which development tools may have installed.
    const needed = new Set(installedPackages(root).map(({ name }) => name));
    build.onResolve({ filter: /^(?:@[\w.-]+\/)?[\w.-]+$/ }, ({ path, importer }) => {
      const isOptional = importer.includes("node_modules") && !needed.has(path) && !isBuiltin(path);
      return isOptional ? { path, external: true } : undefined;
    });
  },
};

/**
 * Replaces modules named `*.embedded.ts` by their values, so that the program needs none of the files that they read.
 * Blobs become files in the program: as code, they would be there a second time as bytecode.
 * Macros would do so too. But while Bun 1.4.5 runs a macro, it loses callbacks of `setImmediate`, and from source the
 * modules are loaded while the server serves others.
 */
export const embedded: BunPlugin = {
  name: "embedded",
  setup(build) {
    const namespace = "embedded";
    const blobs = new Map<string, Blob>();
    build.onLoad({ filter: /\.embedded\.ts$/ }, async ({ path }) => {
      const values: Record<string, unknown> = await import(path);
      const contents = Object.entries(values).map(([name, value]) => {
        if (!(value instanceof Blob)) return `export const ${name} = ${JSON.stringify(value)};\n`;
        const file = `${relative(root, path)}/${name}`;
        blobs.set(file, value);
        return `import ${name}File from ${JSON.stringify(`${namespace}:${file}`)} with { type: "file" };
          export const ${name} = Bun.file(${name}File);\n`;
      });
      return { contents: contents.join(""), loader: "js" };
    });
    build.onResolve({ filter: new RegExp(`^${namespace}:`) }, ({ path }) => ({
      path: path.slice(namespace.length + 1),
      namespace,
    }));
    build.onLoad({ filter: /./, namespace }, async ({ path }) => ({
      contents: (await blobs.get(path)?.bytes()) ?? "",
      loader: "file",
    }));
  },
};

/** The commit in SKYHOOK_COMMIT, for builds without git, or the commit of the repository. */
export function builtCommit(): string {
  const given = process.env["SKYHOOK_COMMIT"] ?? "";
  // Empty if `git describe` failed in the calling script.
  return given === "" || given === "unknown" ? sourceCommit() : given;
}

function targetOf(text: string | undefined): Target | undefined {
  if (text === undefined) return undefined;
  const target = targets.find((known) => known === text.replace(/^bun-/, ""));
  if (target === undefined) throw new Error(`Unknown target ${text}. Usage: ${usage}`);
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
      skyhookEntrypoints,
      values.outfile ?? join(import.meta.dir, "../dist", name),
      target,
    );
    console.log(`${file}  ${(Bun.file(file).size / 1e6).toFixed(0)} MB`);
  } catch (error) {
    const advice =
      target === undefined
        ? ""
        : `\nBun downloads its runtime for ${target} from the package registry. Check that it is reachable.`;
    throw new Error(`Build failed: ${String(error)}${advice}`, { cause: error });
  }
}

if (import.meta.main) {
  await run().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  });
}
