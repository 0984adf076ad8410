// Rehearses a release on this machine, from a tag to an installed program: `bun run rehearse`. It changes nothing outside of
// its temporary folders and the caches in node_modules/.cache.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { version } from "../src/base/version.ts";
import { noChromium } from "../test/support/browser.ts";
import { notInstalled } from "../test/support/skips.ts";

import { output } from "./command.ts";
import { rehearseArchive, rehearseInstaller } from "./rehearsal/downloads.ts";
import { noImages, rehearseImage } from "./rehearsal/image.ts";
import { rehearseNpm } from "./rehearsal/npm.ts";
import { lastLine, skip, skippedSteps, step } from "./rehearsal/steps.ts";

const usage = `bun run rehearse [--key FOLDER]
  --key  keeps the key pair in this folder: two rehearsals of one commit then make equal files`;

const root = join(import.meta.dir, "..");
/** A name that no server has (RFC 6761, section 6.4). */
const repository = "https://releases.invalid/acme/skyhook";
const nextVersion = `${version}-next`;

/** Clones HEAD and adds what a maintainer commits before the first release, and the tag. */
async function tagged(folder: string, key: string): Promise<string> {
  const clone = join(folder, "clone");
  const head = (await output(["git", "rev-parse", "HEAD"], { cwd: root })).trim();
  await output(["git", "clone", "--quiet", root, clone]);
  const time = (
    await output(["git", "show", "--no-patch", "--format=%cI", head], { cwd: root })
  ).trim();
  const git = (...args: readonly string[]) =>
    output(
      ["git", "-c", "user.name=rehearsal", "-c", "user.email=rehearsal@releases.invalid", ...args],
      {
        cwd: clone,
        // The commit, whose hash is in the program, depends on HEAD and the key alone.
        env: { ...process.env, GIT_AUTHOR_DATE: time, GIT_COMMITTER_DATE: time },
      },
    );
  await git("checkout", "--quiet", head);
  cpSync(join(key, "release.pub"), join(clone, "deploy/release.pub"));
  await setInManifest(clone, { repository: { type: "git", url: `git+${repository}.git` } });
  await git("add", "--all");
  await git("commit", "--quiet", "--message", "Add the release key and the repository");
  await git("tag", `v${version}`);
  await output(["bun", "install", "--frozen-lockfile"], { cwd: clone });
  return clone;
}

async function setInManifest(
  clone: string,
  values: Readonly<Record<string, unknown>>,
): Promise<void> {
  const file = join(clone, "package.json");
  const manifest: Readonly<Record<string, unknown>> = await Bun.file(file).json();
  await Bun.write(file, `${JSON.stringify({ ...manifest, ...values }, null, 2)}\n`);
}

async function makeKey(key: string): Promise<void> {
  mkdirSync(key, { recursive: true });
  if (existsSync(join(key, "release.key"))) return;
  await output([
    "minisign",
    "-G",
    "-W",
    "-p",
    join(key, "release.pub"),
    "-s",
    join(key, "release.key"),
  ]);
}

const noNpm = noChromium ?? notInstalled("npm");

/** Serves a folder as releases are served. */
function serveReleases(folder: string) {
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch({ url }) {
      const file = Bun.file(join(folder, decodeURIComponent(new URL(url).pathname)));
      return (await file.exists()) ? new Response(file) : new Response("", { status: 404 });
    },
  });
}

/** npm's packages; last the one that needs the others. */
function npmTarballs(clone: string): readonly string[] {
  const folder = join(clone, "dist/release");
  const names = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  const main = `skyhook-${version}.tgz`;
  return [...names.filter((name) => name !== main), main].map((name) => join(folder, name));
}

/** Builds the program of a next version in the clone, to upgrade to. */
async function buildNext(clone: string): Promise<string> {
  await setInManifest(clone, { version: nextVersion });
  const file = "dist/image/next";
  await output(["bun", "scripts/build.ts", "--outfile", file], { cwd: clone });
  return file;
}

async function rehearse(folder: string, key: string): Promise<void> {
  await step("key: a pair for this rehearsal", () => makeKey(key));
  const clone = await step(`tag: v${version} in a clone`, () => tagged(folder, key));
  const inClone = (argv: readonly string[]) =>
    output(argv, {
      cwd: clone,
      env: { ...process.env, MINISIGN_KEY_FILE: join(key, "release.key") },
    });
  await step("build: all targets, twice", async () =>
    lastLine(await inClone(["bun", "scripts/release.ts", "--twice"])),
  );
  await step("sign: checksums.txt", () => inClone(["bun", "scripts/sign.ts"]));
  const served = join(folder, "served");
  cpSync(join(clone, "dist/release"), join(served, `v${version}`), { recursive: true });
  const server = serveReleases(served);
  try {
    const releases = server.url.origin;
    const downloads = join(folder, "downloads");
    mkdirSync(downloads);
    await rehearseArchive(downloads, clone, releases);
    await rehearseInstaller(downloads, served, releases);
    if (noNpm !== null) skip("npm", noNpm);
    else await step("npm: publish, install and sign in", () => rehearseNpm(npmTarballs(clone)));
    if (noImages !== null) return skip("image", noImages);
    const name = `skyhook-${version}-linux-${process.arch}`;
    mkdirSync(join(clone, "dist/image"));
    await inClone(["tar", "-xzf", `dist/release/${name}.tar.gz`, "-C", "dist/image"]);
    const next = await step(`build: a next version, ${nextVersion}`, () => buildNext(clone));
    await rehearseImage(
      clone,
      [
        { version, file: `dist/image/${name}/skyhook` },
        { version: nextVersion, file: next },
      ],
      releases,
    );
  } finally {
    await server.stop(true);
  }
}

const { values } = parseArgs({ options: { key: { type: "string" }, help: { type: "boolean" } } });
if (values.help) console.log(usage);
else {
  const folder = mkdtempSync(join(tmpdir(), "skyhook-rehearsal-"));
  try {
    await rehearse(folder, values.key ?? join(folder, "key"));
    const skipped = skippedSteps();
    console.log(
      `The release can be made.${skipped.length > 0 ? ` Skipped: ${skipped.join(", ")}` : ""}`,
    );
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
