import { appendFileSync, cpSync, existsSync, mkdirSync, readdirSync, truncateSync } from "node:fs";
import { join } from "node:path";

import { version } from "../../src/base/version.ts";
import { output } from "../command.ts";

import { lastLine, rejected, step } from "./steps.ts";

const platform = `${process.platform}-${process.arch}`;
const archive = `skyhook-${version}-${platform}.tar.gz`;

const verified = async (program: string, releases: string): Promise<string> =>
  lastLine(await output([program, "version", "--verify", "--from", releases]));

/** Downloads an archive as docs/operations.md says, verifies and unpacks it; then the same with damaged files. */
export async function rehearseArchive(cwd: string, clone: string, releases: string): Promise<void> {
  const inFolder = (...argv: readonly string[]) => output(argv, { cwd });
  const key = join(clone, "deploy/release.pub");
  const checkSignature = () => inFolder("minisign", "-V", "-p", key, "-m", "checksums.txt");
  const check = () => inFolder("sha256sum", "--check", "--ignore-missing", "checksums.txt");
  const program = join(cwd, archive.replace(".tar.gz", ""), "skyhook");
  await step("archive: download, verify, unpack", async () => {
    for (const file of ["checksums.txt", "checksums.txt.minisig", archive, "install.sh"]) {
      await inFolder(
        "curl",
        "--fail",
        "--silent",
        "--remote-name",
        `${releases}/v${version}/${file}`,
      );
    }
    await checkSignature();
    await check();
    await inFolder("tar", "-xzf", archive);
    return verified(program, releases);
  });
  await step("npm's package: unpack, verify", async () => {
    const tarball = join(clone, `dist/release/skyhook-${platform}-${version}.tgz`);
    await inFolder("tar", "-xzf", tarball);
    return verified(join(cwd, "package/skyhook"), releases);
  });
  await step("archive: a truncated one is found", async () => {
    truncateSync(join(cwd, archive), 1_000_000);
    return rejected(check(), "did NOT match");
  });
  await step("archive: changed checksums are found", async () => {
    appendFileSync(join(cwd, "checksums.txt"), "x");
    return rejected(checkSignature(), "Signature verification failed");
  });
  await step("archive: a changed program is found", async () => {
    appendFileSync(program, "x");
    return rejected(verified(program, releases), "does not list");
  });
}

/** Installs with install.sh of a release; then from releases that are damaged, of which nothing may be installed. */
export async function rehearseInstaller(
  cwd: string,
  served: string,
  releases: string,
): Promise<void> {
  const install = (from: string, into: string) =>
    output(["sh", "install.sh"], {
      cwd,
      env: { ...process.env, SKYHOOK_BASE_URL: from, SKYHOOK_INSTALL_DIR: join(cwd, into) },
    });
  await step("install.sh: install, verify", async () => {
    await install(releases, "installed");
    return verified(join(cwd, "installed/skyhook"), releases);
  });
  const damages: readonly (readonly [string, string, (folder: string) => void])[] = [
    ["truncated", "is damaged", (folder) => truncateSync(join(folder, archive), 1_000_000)],
    ["changed", "signature", (folder) => appendFileSync(join(folder, "checksums.txt"), "x")],
  ];
  for (const [name, error, damage] of damages) {
    await step(`install.sh: nothing of a ${name} release`, async () => {
      const folder = join(served, name, `v${version}`);
      mkdirSync(folder, { recursive: true });
      for (const file of ["checksums.txt", "checksums.txt.minisig", archive]) {
        cpSync(join(served, `v${version}`, file), join(folder, file));
      }
      damage(folder);
      const said = await rejected(install(`${releases}/${name}`, name), error);
      const left = existsSync(join(cwd, name)) ? readdirSync(join(cwd, name)) : [];
      if (left.length > 0) throw new Error(`${left.join(", ")} was left`);
      return said;
    });
  }
}
