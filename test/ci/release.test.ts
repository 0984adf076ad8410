import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { tarball, type TarEntry } from "../../scripts/pack/tar.ts";
import { releaseOf, releaseOrNull } from "../../scripts/release-key.ts";
import { compareFolders } from "../../scripts/release.ts";
import { sbom } from "../../scripts/sbom.ts";

const folder = mkdtempSync(join(tmpdir(), "skyhook-release-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("an archive", () => {
  const entries: readonly TarEntry[] = [
    { path: "one/README.md", mode: 0o644, bytes: Buffer.from("read me\n") },
    { path: "one/program", mode: 0o755, bytes: new Uint8Array(1_025) },
  ];

  test("is what tar reads, with fixed times, modes and owners", async () => {
    const file = join(folder, "one.tar.gz");
    await Bun.write(file, tarball(entries));
    const listed =
      await Bun.$`TZ=UTC tar --list --verbose --numeric-owner --gzip --file ${file}`.text();
    expect(
      listed
        .trim()
        .split("\n")
        .map((line) => line.replaceAll(/ +/g, " ")),
    ).toEqual([
      "-rw-r--r-- 0/0 8 1985-10-26 08:15 one/README.md",
      "-rwxr-xr-x 0/0 1025 1985-10-26 08:15 one/program",
    ]);
    expect(await Bun.$`tar --extract --to-stdout --gzip --file ${file} one/README.md`.text()).toBe(
      "read me\n",
    );
  });

  test("has the same bytes whatever the order of its files", () => {
    expect(tarball(entries.toReversed())).toEqual(tarball(entries));
  });

  test("takes no path that its format has no room for", () => {
    const long = { path: "a".repeat(101), mode: 0o644, bytes: new Uint8Array() } as const;
    expect(() => tarball([long])).toThrow("is too long for an archive");
  });
});

test("two builds are compared file by file", async () => {
  const [one, other] = ["first", "second"].map((name) => join(folder, name));
  for (const name of ["equal", "changed", "missing"]) {
    await Bun.write(join(one ?? "", name), name);
    if (name !== "missing") await Bun.write(join(other ?? "", name), name);
  }
  expect(compareFolders(one ?? "", other ?? "")).rejects.toThrow("differ in missing");
  await Bun.write(join(other ?? "", "missing"), "missing");
  expect(await compareFolders(one ?? "", other ?? "")).toBe(3);
  await Bun.write(join(other ?? "", "changed"), "Changed");
  expect(compareFolders(one ?? "", other ?? "")).rejects.toThrow("differ in changed");
});

describe("the key of releases", () => {
  const key = "RWRD15L3lZ8oL0VdPBrYiNJqiczEeGBAmpqlwRyEdWNfHjJtG7USHAt3";
  const address = { repository: { type: "git", url: "git+https://git.example/acme/skyhook.git" } };

  async function rootWith(keyFile: string | null, manifest: object): Promise<string> {
    const root = mkdtempSync(join(folder, "root-"));
    mkdirSync(join(root, "deploy"));
    if (keyFile !== null) await Bun.write(join(root, "deploy/release.pub"), keyFile);
    await Bun.write(join(root, "package.json"), JSON.stringify(manifest));
    return root;
  }

  test("is minisign's, beside the address of releases", async () => {
    const root = await rootWith(`untrusted comment: minisign public key\n${key}\n`, address);
    expect(releaseOf(root)).toEqual({
      key,
      url: "https://git.example/acme/skyhook/releases/download",
    });
  });

  test.each<[string, string | null, object, string]>([
    ["no key", null, address, "There is no deploy/release.pub"],
    [
      "a secret key",
      `untrusted comment: x\nRWRTY0Iy${"A".repeat(100)}\n`,
      address,
      "is no public key",
    ],
    ["a key without its comment", `${key}\n`, address, "is no public key"],
    ["half a key", `untrusted comment: x\n${key.slice(0, 28)}\n`, address, "is no public key"],
    ["no repository", `untrusted comment: x\n${key}\n`, {}, "package.json names no repository"],
  ])("is not %s", async (_, keyFile, manifest, message) => {
    const root = await rootWith(keyFile, manifest);
    expect(() => releaseOf(root)).toThrow(message);
  });

  test("is in no build of a repository that has none", async () => {
    expect(releaseOrNull(await rootWith(null, {}))).toBeNull();
  });
});

test("what is inside an archive names the archive and its hash", () => {
  const sha256 = "ab".repeat(32);
  const document = sbom({ name: "skyhook-1.2.3-linux-x64.tar.gz", sha256 });
  const purl = expect.stringMatching(
    /^pkg:generic\/skyhook@[\d.]+\?checksum=sha256:(?:ab){32}&file_name=skyhook-1\.2\.3-linux-x64\.tar\.gz$/,
  );
  expect(document).toMatchObject({
    metadata: {
      component: { purl, "bom-ref": purl, hashes: [{ alg: "SHA-256", content: sha256 }] },
    },
    components: expect.arrayContaining([
      expect.objectContaining({ type: "platform", name: "bun", version: Bun.version }),
    ]),
    dependencies: expect.arrayContaining([expect.objectContaining({ ref: purl })]),
  });
});
