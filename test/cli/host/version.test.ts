import { afterAll, describe, expect, test } from "bun:test";
import { generateKeyPairSync, sign } from "node:crypto";
import { join } from "node:path";

import { releaseOrNull } from "../../../scripts/release-key.ts";
import { version } from "../../../src/base/version.ts";
import { verified } from "../../../src/cli/host/version.ts";
import { commandLine } from "../../support/cli.ts";
import { compiledProgram } from "../../support/program.ts";
import { notInstalled, skips } from "../../support/skips.ts";

const { skyhook, newFolder } = commandLine();
const root = join(import.meta.dir, "../../..");

const keyId = Buffer.from("01234567");
const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const rawKey = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
const releaseKey = Buffer.concat([Buffer.from("Ed"), keyId, rawKey]).toString("base64");

/** A signature file in minisign's format. */
function signatureOf(
  content: string,
  { algorithm = "ED", id = keyId, key = privateKey } = {},
): string {
  const hash = new Bun.CryptoHasher("blake2b512").update(content).digest();
  const line = Buffer.concat([Buffer.from(algorithm), id, sign(null, hash, key)]);
  return `untrusted comment: a test\n${line.toString("base64")}\ntrusted comment: a test\nAA==\n`;
}

const content = "an executable\n";
const hash = new Bun.CryptoHasher("sha256").update(content).digest("hex");
const name = `skyhook-${version}-linux-x64/skyhook`;
const sums = `${"0".repeat(64)}  skyhook-${version}-linux-x64.tar.gz\n${hash}  ${name}\n`;

const stops: (() => Promise<void>)[] = [];
afterAll(async () => void (await Promise.all(stops.map((stop) => stop()))));

/** Serves a release, from another address than the one that is asked, as GitHub does. */
function releases(checksums: string | null, signature: string | null): string {
  const files: Readonly<Record<string, string | null>> = {
    "/stored/checksums.txt": checksums,
    "/stored/checksums.txt.minisig": signature,
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ url }) {
      const { pathname } = new URL(url);
      const file = files[pathname] ?? null;
      if (file !== null) return new Response(file);
      const asked = pathname.replace(`/download/v${version}/`, "/stored/");
      return asked === pathname ? new Response("", { status: 404 }) : Response.redirect(asked);
    },
  });
  stops.push(() => server.stop(true));
  return `${server.url.origin}/download`;
}

async function executable(): Promise<string> {
  const file = join(newFolder(), "skyhook");
  await Bun.write(file, content);
  return file;
}

test("prints the version as --version does", async () => {
  const [command, option] = await Promise.all([skyhook(["version"]), skyhook(["--version"])]);
  expect(command).toEqual(option);
  expect(command.out).toStartWith(`${version} (commit `);
});

test("rejects --from without --verify", async () => {
  const { out, err, code } = await skyhook(["version", "--from", "http://127.0.0.1:1"]);
  expect([code, out, err]).toEqual([2, "", "skyhook: --from needs --verify\n"]);
});

test("verifies no program without a release key", async () => {
  const { err, code } = await skyhook(["version", "--verify", "--from", "http://127.0.0.1:1"]);
  const hasKey = compiledProgram !== null && releaseOrNull(root) !== null;
  const what = compiledProgram === null ? "runs from source" : "was built without a release key";
  const error = hasKey ? "Not verified by http://127.0.0.1:1/" : `This program ${what}. Install a `;
  expect(err).toStartWith(`skyhook: ${error}`);
  expect(code).toBe(1);
});

describe("version --verify", () => {
  test("names the program that the signed checksums list", async () => {
    const from = releases(sums, signatureOf(sums));
    expect(await verified(await executable(), releaseKey, from)).toBe(
      `verified: ${name} of ${from}/v${version}/checksums.txt`,
    );
  });

  test.skipIf(skips(notInstalled("minisign")))("accepts what minisign signs", async () => {
    const folder = newFolder();
    const file = join(folder, "checksums.txt");
    await Bun.write(file, sums);
    await Bun.$`minisign -G -W -p ${folder}/pub -s ${folder}/key && minisign -S -s ${folder}/key -m ${file}`.quiet();
    const [, key = ""] = (await Bun.file(join(folder, "pub")).text()).split("\n");
    const from = releases(sums, await Bun.file(`${file}.minisig`).text());
    expect(await verified(await executable(), key, from)).toStartWith(`verified: ${name} of `);
  });

  const stranger = generateKeyPairSync("ed25519").privateKey;
  const older = sums.replaceAll(version, "0.0.1");
  const unsigned = "it is not signed with the release key";
  const noMatch = "its signature does not match its content";
  test.each<[string, string | null, string | null, string]>([
    ["a changed list", sums.replace("0", "1"), signatureOf(sums), noMatch],
    ["a key with the same id", sums, signatureOf(sums, { key: stranger }), noMatch],
    ["another key", sums, signatureOf(sums, { id: Buffer.from("76543210") }), unsigned],
    ["a signature without a hash", sums, signatureOf(sums, { algorithm: "Ed" }), unsigned],
    ["half a signature", sums, signatureOf(sums).slice(0, 70), noMatch],
    ["an empty signature", sums, "", unsigned],
    ["a page instead of a signature", sums, "<html>\n<body>\n", unsigned],
    ["no list", null, signatureOf(sums), "checksums.txt has status 404"],
    ["no signature", sums, null, "checksums.txt.minisig has status 404"],
    [
      "another version's list",
      older,
      signatureOf(older),
      `it does not list FILE, whose SHA-256 is ${hash}`,
    ],
    ["an endless list", "0".repeat(2 ** 20 + 1), "", "the response is larger than 1048576 bytes"],
  ])("rejects %s", async (_, list, signature, why) => {
    const file = await executable();
    const from = releases(list, signature);
    const error: unknown = await verified(file, releaseKey, from).catch(
      (thrown: unknown) => thrown,
    );
    expect(String(error)).toStartWith(`Error: Not verified by ${from}/v${version}/checksums.txt: `);
    expect(String(error)).toEndWith(why.replace("FILE", file));
  });

  test("rejects a changed program, and says when nothing answers", async () => {
    const file = await executable();
    await Bun.write(file, `${content} `);
    const from = releases(sums, signatureOf(sums));
    expect(verified(file, releaseKey, from)).rejects.toThrow("it does not list ");
    expect(verified(file, releaseKey, "http://127.0.0.1:1")).rejects.toThrow("connection refused");
  });
});
