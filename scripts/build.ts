import { join } from "node:path";
import { parseArgs } from "node:util";

import { sourceCommit } from "../src/cli/version.ts";

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
    define: { SKYHOOK_COMMIT: JSON.stringify(builtCommit()) },
  });
  return outputs.filter(({ kind }) => kind === "entry-point").map(({ path }) => path);
}

/** Where the source comes without its git, as into an image, whoever builds says of which commit it is. */
function builtCommit(): string {
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
