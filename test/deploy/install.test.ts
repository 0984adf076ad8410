import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { formula, installer } from "../../scripts/pack/installers.ts";
import { tarball } from "../../scripts/pack/tar.ts";
import { version } from "../../src/base/version.ts";
import { ended, removeFolder, temporaryFolder } from "../support/program.ts";
import { notInstalled, skips } from "../support/skips.ts";

const folder = temporaryFolder();
const base = "https://releases.invalid/acme/skyhook/releases/download";
const archive = "skyhook-1.2.3-linux-x64.tar.gz";
const isSkippedUnsigned = skips(notInstalled("minisign"));

const sum = (bytes: Uint8Array) => Bun.SHA256.hash(bytes, "hex");

/** An archive as a release has it, with a stand-in for the program. */
const archived = (program = 'echo "1.2.3 (commit abc)"', name = archive) =>
  tarball([
    {
      path: `${name.replace(".tar.gz", "")}/skyhook`,
      mode: 0o755,
      bytes: Buffer.from(`#!/bin/sh\n${program}\n`),
    },
  ]);

const listed = (bytes: Uint8Array, name = archive) => `${sum(bytes)}  ${name}\n`;

/** The files of the release, by name. */
type Files = Record<string, string | Uint8Array<ArrayBuffer>>;
let files: Files = {};
let isCutOff = false;

const server = createServer((request, response) => {
  const file = files[request.url?.replace("/v1.2.3/", "") ?? ""];
  if (file === undefined) {
    response.writeHead(404).end();
  } else if (isCutOff && typeof file !== "string") {
    response.writeHead(200, { "content-length": file.length });
    response.write(file.subarray(0, 100), () => response.destroy());
  } else {
    response.end(file);
  }
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
// Guarantee: a server that listens on a port has an address of this kind.
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
let key = "";

beforeAll(async () => {
  if (!isSkippedUnsigned) {
    for (const name of ["release", "other"]) {
      const pair = ["-p", `${name}.pub`, "-s", `${name}.key`];
      await run(["minisign", "-G", "-W", ...pair]);
    }
    key = readFileSync(join(folder, "release.pub"), "utf8").split("\n")[1] ?? "";
  }
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
  removeFolder(folder);
});

function run(command: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = Bun.spawn([...command], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  return ended(child);
}

async function signed(checksums: string, name = "release"): Promise<string> {
  const file = join(folder, "checksums.txt");
  writeFileSync(file, checksums);
  await run(["minisign", "-S", "-s", `${name}.key`, "-m", file]);
  return readFileSync(`${file}.minisig`, "utf8");
}

/** A folder with stand-ins for commands of the system. */
function commands(scripts: Readonly<Record<string, string>>, ...real: readonly string[]): string {
  const bin = join(folder, "bin");
  rmSync(bin, { recursive: true, force: true });
  mkdirSync(bin);
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  for (const name of real) symlinkSync(Bun.which(name) ?? "", join(bin, name));
  return bin;
}

/** Here, as `uname` and `ldd` would report Linux on x64 with glibc. */
const linux = {
  uname: "case $1 in -s) echo Linux ;; *) echo x86_64 ;; esac",
  ldd: "echo ldd 2.36",
};

interface Attempt {
  readonly system?: Readonly<Record<string, string>>;
  readonly version?: string;
  readonly publicKey?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly path?: string;
}

/** Runs the installer. The folder to install into has an older program. */
async function install(
  release: Files,
  { system = linux, version, publicKey, env, path }: Attempt = {},
) {
  files = release;
  const target = join(folder, "installed");
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target);
  writeFileSync(join(target, "skyhook"), "older");
  const script = join(folder, "install.sh");
  const filled = {
    version: "1.2.3",
    base,
    publicKey: publicKey ?? (isSkippedUnsigned ? "RWnone" : key),
  };
  await Bun.write(script, await installer(filled));
  const result = await run(
    [Bun.which("sh") ?? "", script, ...(version === undefined ? [] : [version])],
    {
      PATH: path ?? `${commands(system)}:${process.env["PATH"] ?? ""}`,
      SKYHOOK_BASE_URL: origin,
      SKYHOOK_INSTALL_DIR: target,
      ...env,
    },
  );
  const program = readFileSync(join(target, "skyhook"), "utf8");
  return { ...result, left: readdirSync(target), isOlder: program === "older" };
}

/** A release with one archive. */
async function release(bytes = archived(), name = archive): Promise<Files> {
  const checksums = `${listed(archived("other"), "skyhook-1.2.3-windows-x64.tar.gz")}${listed(bytes, name)}`;
  const signature = isSkippedUnsigned ? {} : { "checksums.txt.minisig": await signed(checksums) };
  return { [name]: bytes, "checksums.txt": checksums, ...signature };
}

describe("deploy/install.sh", () => {
  test.each([
    ["Linux with glibc", {}, "linux-x64"],
    ["Linux with musl", { ldd: 'echo "musl libc (x86_64)" >&2; exit 1' }, "linux-x64-musl"],
    [
      "Linux on ARM",
      { uname: "case $1 in -s) echo Linux ;; *) echo aarch64 ;; esac" },
      "linux-arm64",
    ],
    [
      "macOS on ARM",
      { uname: "case $1 in -s) echo Darwin ;; *) echo arm64 ;; esac", ldd: "exit 127" },
      "darwin-arm64",
    ],
    [
      "macOS on Intel",
      { uname: "case $1 in -s) echo Darwin ;; *) echo x86_64 ;; esac" },
      "darwin-x64",
    ],
  ])("installs the program for %s", async (_, system, target) => {
    const name = `skyhook-1.2.3-${target}.tar.gz`;
    const files = await release(archived(undefined, name), name);
    const result = await install(files, { system: { ...linux, ...system } });
    expect(result.err).toBe("");
    expect(result.out).toContain("installed/skyhook: 1.2.3 (commit abc)");
    expect(result.out).toContain(
      isSkippedUnsigned ? "Signature not checked" : "Signature verified",
    );
    expect(result).toMatchObject({ code: 0, left: ["skyhook"], isOlder: false });
  });

  test("downloads with wget and installs into ~/.local/bin, where that is all there is", async () => {
    const tools = "cat chmod cut gzip ln mkdir mktemp mv rm sed sha256sum tar wget".split(" ");
    const path = commands(linux, ...tools);
    const { out, err, code } = await install(await release(), {
      path,
      env: { SKYHOOK_INSTALL_DIR: "" },
    });
    expect([err, code]).toEqual(["", 0]);
    expect(out).toContain("Signature not checked: minisign is not installed");
    expect(out).toContain(`export PATH="${folder}/.local/bin:$PATH"`);
    expect(readdirSync(join(folder, ".local/bin"))).toEqual(["skyhook"]);
  });

  test("installs nothing for a download that is cut off", async () => {
    isCutOff = true;
    const result = await install(await release());
    isCutOff = false;
    expect(result.err).toContain(`${archive} could not be downloaded`);
    expect(result).toMatchObject({ code: 1, left: ["skyhook"], isOlder: true });
  });

  test.each<[string, (files: Files) => Files | Promise<Files>, Attempt, string]>([
    [
      "a truncated archive",
      (files) => ({ ...files, [archive]: archived().slice(0, -9) }),
      {},
      "is damaged: its SHA-256 is",
    ],
    [
      "another archive",
      (files) => ({ ...files, [archive]: archived("other") }),
      {},
      "is damaged: its SHA-256 is",
    ],
    [
      "a release without this platform",
      () => release(archived(), "skyhook-1.2.3-linux-arm64.tar.gz"),
      {},
      `The release has no ${archive}`,
    ],
    [
      "a program that does not start",
      () => release(archived("exit 127")),
      {},
      "The program does not start here",
    ],
    [
      "a version that there is not",
      (files) => files,
      { version: "9.9.9" },
      "v9.9.9/checksums.txt could not be downloaded",
    ],
    ["a version that is no version", (files) => files, { version: "1/../2" }, "Name a version"],
    [
      "an unsupported system",
      (files) => files,
      { system: { uname: "echo FreeBSD" } },
      "no program for FreeBSD",
    ],
    [
      "an unsupported processor",
      (files) => files,
      { system: { uname: "case $1 in -s) echo Linux ;; *) echo riscv64 ;; esac" } },
      "no program for riscv64",
    ],
    [
      "a folder that cannot be made",
      (files) => files,
      { env: { SKYHOOK_INSTALL_DIR: "/dev/null/bin" } },
      "Set SKYHOOK_INSTALL_DIR",
    ],
    [
      "a server that is not there",
      (files) => files,
      { env: { SKYHOOK_BASE_URL: "http://127.0.0.1:1" } },
      "could not be downloaded",
    ],
  ])("installs nothing for %s", async (_, change, attempt, text) => {
    const result = await install(await change(await release()), attempt);
    expect(result.err).toContain(text);
    expect(result).toMatchObject({ code: 1, left: ["skyhook"], isOlder: true });
  });

  test.each(["tar", "sha256sum", "curl"])("names a missing tool: %s", async (missing) => {
    const tools = ["gzip", "mktemp", "tar", "sha256sum", "curl"].filter((name) => name !== missing);
    const { err, code } = await install({}, { path: commands(linux, ...tools) });
    const named = { tar: "tar", sha256sum: "shasum", curl: "wget" }[missing];
    expect([err, code]).toEqual([`install.sh: ${named} is not installed. Install it first.\n`, 1]);
  });

  test.skipIf(isSkippedUnsigned).each<[string, (files: Files) => Files | Promise<Files>, string]>([
    [
      "is missing",
      ({ "checksums.txt": sums = "", [archive]: bytes = "" }) => ({
        "checksums.txt": sums,
        [archive]: bytes,
      }),
      "checksums.txt.minisig could not be downloaded",
    ],
    [
      "is by another key",
      async (files) => ({
        ...files,
        "checksums.txt.minisig": await signed(String(files["checksums.txt"]), "other"),
      }),
      "The signature of checksums.txt is wrong",
    ],
    [
      "is of other checksums",
      async (files) => ({ ...files, "checksums.txt.minisig": await signed("other") }),
      "The signature of checksums.txt is wrong",
    ],
  ])("installs nothing when the signature %s", async (_, change, text) => {
    const result = await install(await change(await release()));
    expect(result.err).toContain(text);
    expect(result).toMatchObject({ code: 1, left: ["skyhook"], isOlder: true });
  });

  test("needs a version and an address outside of a release", async () => {
    const script = join(import.meta.dir, "../../deploy/install.sh");
    expect((await run(["sh", script])).err).toContain("Name a version");
    expect((await run(["sh", script, "1.2.3"])).err).toContain("Set SKYHOOK_BASE_URL");
  });

  test("does nothing when a shell reads only a part of it", async () => {
    const text = await installer({ version: "1.2.3", base, publicKey: "RWnone" });
    const parts = [0.3, 0.6, 0.9].map((share) => text.slice(0, Math.floor(text.length * share)));
    const touched = join(folder, "touched");
    for (const part of parts) {
      await run(["sh", "-c", part], {
        SKYHOOK_INSTALL_DIR: touched,
        SKYHOOK_BASE_URL: origin,
      });
    }
    expect(readdirSync(folder)).not.toContain("touched");
  });

  test.skipIf(skips(notInstalled("shellcheck")))("passes shellcheck", async () => {
    const script = join(import.meta.dir, "../../deploy/install.sh");
    expect(await run(["shellcheck", script])).toMatchObject({ out: "", code: 0 });
  });
});

test.each(["README.md", "docs/operations.md"])(
  "%s installs the version of package.json",
  (page) => {
    const text = readFileSync(join(import.meta.dir, "../..", page), "utf8");
    const versions = text.match(/(?<=skyhook@|download\/v)[\d.]+\b/g) ?? [];
    expect(new Set(versions)).toEqual(new Set([version]));
  },
);

describe("deploy/homebrew/skyhook.rb", () => {
  const targets = ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64"];
  const sums = new Map(
    targets.map((target) => [`skyhook-1.2.3-${target}.tar.gz`, sum(Buffer.from(target))]),
  );

  test("has the address and the sum of each archive side by side", async () => {
    const text = await formula({ version: "1.2.3", base, sums });
    for (const [name, hash] of sums)
      expect(text).toContain(`"${base}/v1.2.3/${name}"\n      sha256 "${hash}"`);
    expect(text).not.toMatch(/@/);
  });

  test("is not made when a sum is missing", async () => {
    const fewer = new Map([...sums].filter(([name]) => !name.includes("linux-x64")));
    expect(formula({ version: "1.2.3", base, sums: fewer })).rejects.toThrow("SHA256 linux-x64");
  });

  test.skipIf(skips(notInstalled("ruby")))("is correct Ruby", async () => {
    const file = join(import.meta.dir, "../../deploy/homebrew/skyhook.rb");
    expect((await run(["ruby", "-c", file])).out).toBe("Syntax OK\n");
  });
});
