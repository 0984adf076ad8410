// Makes the files of a release in dist/release; with --twice, also in a clone of the same commit, which must be the same.
// scripts/sign.ts signs their checksums. CONTRIBUTING.md says how a release is made.
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

import { version } from "../src/base/version.ts";
import { sourceCommit } from "../src/cli/kit/program.ts";

import { builtCommit, compile, skyhookEntrypoints, type Target, targets } from "./build.ts";
import { output } from "./command.ts";
import { formula, installer } from "./pack/installers.ts";
import { packNpm } from "./pack/npm.ts";
import { tarball } from "./pack/tar.ts";
import { releaseOf } from "./release-key.ts";
import { sbom } from "./sbom.ts";

const usage = "bun scripts/release.ts [--twice]";

const root = join(import.meta.dir, "..");
const release = join(root, "dist/release");
const sums = join(release, "checksums.txt");

const nameOf = (target: Target): string => `skyhook-${version}-${target}`;

/** The executable of the release, whose folder has the name of the archive. */
function programOf(target: Target): string {
  const file = target.startsWith("windows") ? "skyhook.exe" : "skyhook";
  return join(root, "dist/programs", nameOf(target), file);
}

/** Makes all files of a release but the signature. Equal commits give equal bytes. */
async function build(): Promise<void> {
  const { key, url } = releaseOf(root);
  for (const folder of [release, join(root, "dist/programs")]) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
  }
  const lines: string[] = [];
  // One after another: each executable is in memory.
  for (const target of targets) {
    const file = programOf(target);
    await compile(skyhookEntrypoints, file, target);
    chmodSync(file, 0o755);
    lines.push(`${await sha256(file)}  ${nameOf(target)}/${basename(file)}`);
    await writeArchive(target);
    console.log(`built ${nameOf(target)}`);
  }
  await packNpm(targets, programOf, release);
  const words = { version, base: url };
  const script = await installer({ ...words, publicKey: key });
  await Bun.write(join(release, "install.sh"), script);
  const recipe = await formula({ ...words, sums: await hashesIn(release) });
  await Bun.write(join(release, "skyhook.rb"), recipe);
  for (const [name, hash] of await hashesIn(release)) lines.push(`${hash}  ${name}`);
  await Bun.write(sums, `${lines.join("\n")}\n`);
}

/** The SHA-256 of each file by its name. */
async function hashesIn(folder: string): Promise<ReadonlyMap<string, string>> {
  const names = readdirSync(folder).toSorted();
  const hashes = names.map(async (name) => [name, await sha256(join(folder, name))] as const);
  return new Map(await Promise.all(hashes));
}

/** Writes the archive of a target, and what is inside. */
async function writeArchive(target: Target): Promise<void> {
  const program = programOf(target);
  const name = nameOf(target);
  const files = [program, join(root, "LICENSE"), join(root, "README.md")].map(async (file) => ({
    path: `${name}/${basename(file)}`,
    mode: file === program ? (0o755 as const) : (0o644 as const),
    bytes: await Bun.file(file).bytes(),
  }));
  const archive = join(release, `${name}.tar.gz`);
  await Bun.write(archive, tarball(await Promise.all(files)));
  const inside = sbom({ name: basename(archive), sha256: await sha256(archive) });
  await Bun.write(join(release, `${name}.cdx.json`), `${JSON.stringify(inside, null, 2)}\n`);
}

async function sha256(file: string): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  for await (const chunk of Bun.file(file).stream()) hasher.update(chunk);
  return hasher.digest("hex");
}

/** Builds a clone of the same commit in another folder. Throws an `Error` that names what differs. */
async function compareWithClone(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "skyhook-second-build-"));
  const clone = join(folder, "elsewhere/clone");
  try {
    await output(["git", "clone", "--quiet", root, clone]);
    const head = await output(["git", "rev-parse", "HEAD"], { cwd: root });
    await output(["git", "checkout", "--quiet", head.trim()], { cwd: clone });
    await output(["bun", "install", "--frozen-lockfile"], { cwd: clone });
    await output(["bun", "scripts/release.ts"], {
      cwd: clone,
      // Abbreviated, commits can have other lengths in a clone.
      env: { ...process.env, SKYHOOK_COMMIT: builtCommit() },
    });
    const count = await compareFolders(release, join(clone, "dist/release"));
    console.log(
      `built twice: ${count} files have equal bytes; checksums.txt is ${await sha256(sums)}`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The number of files, which are the same in both folders. Throws an `Error` that names those that differ. */
export async function compareFolders(one: string, other: string): Promise<number> {
  const [first, second] = await Promise.all([hashesIn(one), hashesIn(other)]);
  const names = [...new Set([...first.keys(), ...second.keys()])].toSorted();
  const differing = names.filter((name) => first.get(name) !== second.get(name));
  if (differing.length === 0) return names.length;
  throw new Error(`Two builds of one commit differ in ${differing.join(", ")}`);
}

async function run(options: readonly string[]): Promise<void> {
  const isTwice = options.includes("--twice");
  if (options.length !== Number(isTwice)) throw new Error(usage);
  if (sourceCommit().endsWith("-dirty")) throw new Error("Commit your changes before a release");
  await build();
  if (isTwice) await compareWithClone();
}

if (import.meta.main) {
  await run(process.argv.slice(2)).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  });
}
