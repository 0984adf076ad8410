import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { version } from "../../src/base/version.ts";
import type { Target } from "../build.ts";
import { buildClient } from "../client.ts";

import { tarball, type TarEntry } from "./tar.ts";

const root = join(import.meta.dir, "../..");

/** The name on the registry of the command's package, and the beginning of each platform's. */
const npmName = "skyhook";

const shared = {
  version,
  license: "MIT",
  type: "module",
  engines: { node: ">=20" },
};

/** Which platforms npm installs a package on: `libc` tells packages for Linux apart. */
function constraints(target: Target) {
  const [system = "", cpu = "", libc = "glibc"] = target.split("-");
  return {
    os: [system === "windows" ? "win32" : system],
    cpu: [cpu],
    ...(system === "linux" && { libc: [libc] }),
  };
}

function platformManifest(target: Target) {
  return {
    name: `${npmName}-${target}`,
    description: `The program of ${npmName} for ${target}`,
    ...shared,
    ...constraints(target),
    // Yarn must not leave it in an archive, where it cannot be started.
    preferUnplugged: true,
  };
}

function wrapperManifest(targets: readonly Target[]) {
  return {
    name: npmName,
    description: "A webhook gateway and flight-booking service in one program",
    ...shared,
    bin: { skyhook: "skyhook.js" },
    optionalDependencies: Object.fromEntries(
      targets.map((target) => [`${npmName}-${target}`, version]),
    ),
  };
}

const platformReadme = (target: Target) => `# ${npmName}-${target}

The program of [${npmName}](https://www.npmjs.com/package/${npmName}) for ${target}. Install \`${npmName}\`, which selects it.
`;

const wrapperReadme = `# Skyhook

A webhook gateway and flight-booking service in one program. With examples, in memory:

\`\`\`sh
npx ${npmName}@${version} demo
\`\`\`

To keep its data in \`./data\`, run \`npx ${npmName}@${version} serve\`. The server has its documentation at \`/docs\`.
The program is in a package for each platform, an optional dependency of this one. No script runs during the installation.
`;

type File = readonly [path: string, content: string | Bun.BunFile, mode?: TarEntry["mode"]];

async function pack(folder: string, manifest: { readonly name: string }, files: readonly File[]) {
  // npm compares it with the repository that publishes.
  const { repository }: { readonly repository?: unknown } = await Bun.file(
    join(root, "package.json"),
  ).json();
  const all: readonly File[] = [
    ...files,
    ["LICENSE", Bun.file(join(root, "LICENSE"))],
    ["package.json", `${JSON.stringify({ ...manifest, repository }, null, 2)}\n`],
  ];
  const entries = all.map(async ([path, content, mode = 0o644]) => {
    const bytes = typeof content === "string" ? Buffer.from(content) : await content.bytes();
    return { path: `package/${path}`, mode, bytes };
  });
  const file = join(folder, `${manifest.name}-${version}.tgz`);
  await Bun.write(file, tarball(await Promise.all(entries)));
  return file;
}

async function packClient(folder: string): Promise<string> {
  // Below the packages of this repository, which its build needs.
  const built = join(root, "dist/client");
  await buildClient(built);
  const manifest = await Bun.file(join(built, "package.json")).json();
  const files = readdirSync(built)
    .filter((name) => name !== "package.json" && name !== "LICENSE")
    .map((name) => [name, Bun.file(join(built, name))] as const);
  return pack(folder, manifest, files);
}

/**
 * Packs the npm packages of `targets` into `folder`: for each one with its executable, the wrapper, and the client. Returns
 * the tarballs in the order in which to publish them: what others depend on comes first. Throws if an executable is missing.
 */
export async function packNpm(
  targets: readonly Target[],
  programOf: (target: Target) => string,
  folder: string,
): Promise<readonly string[]> {
  mkdirSync(folder, { recursive: true });
  const tarballs: string[] = [];
  // One after another: each executable is in memory.
  for (const target of targets) {
    const suffix = target.startsWith("windows") ? ".exe" : "";
    const program = Bun.file(programOf(target));
    if (!(await program.exists())) {
      throw new Error(`${program.name} is missing. Run: bun run build --target ${target}`);
    }
    const files: readonly File[] = [
      [`skyhook${suffix}`, program, 0o755],
      ["README.md", platformReadme(target)],
    ];
    tarballs.push(await pack(folder, platformManifest(target), files));
  }
  tarballs.push(await packClient(folder));
  const wrapper = Bun.file(join(import.meta.dir, "skyhook.js"));
  const files: readonly File[] = [
    ["skyhook.js", wrapper, 0o755],
    ["README.md", wrapperReadme],
  ];
  return [...tarballs, await pack(folder, wrapperManifest(targets), files)];
}
