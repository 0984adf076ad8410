import type { Command } from "commander";

import { nodeCrypto } from "../../base/crypto.ts";
import { plainFetch } from "../../base/plain-fetch.ts";
import { builtCommit } from "../../base/program-name.ts";
import { responseText } from "../../base/response-text.ts";
import { version } from "../../base/version.ts";
import { argument, example } from "../kit/arguments.ts";
import { UsageError } from "../kit/output.ts";
import { fullVersion } from "../kit/program.ts";
import { parseBaseUrl, reasonOf } from "../kit/request.ts";

/** Defined by the build: minisign's key and where releases are; null without them, undefined in the source. */
declare const SKYHOOK_RELEASE: { readonly key: string; readonly url: string } | null | undefined;

export function declare(program: Command): void {
  program
    .command("version")
    .description("print the version, the commit and Bun's version")
    .option("--verify", "compare this program with the signed checksums of its release")
    .option(
      "--from <url>",
      "with --verify: where releases are, such as a mirror",
      argument(parseBaseUrl),
    )
    .addHelpText("after", example("skyhook version --verify"))
    .action(async ({ verify, from }: { readonly verify?: true; readonly from?: string }) => {
      if (from !== undefined && !verify) throw new UsageError("--from needs --verify");
      console.log(fullVersion());
      if (!verify) return;
      const release = typeof SKYHOOK_RELEASE === "object" ? SKYHOOK_RELEASE : null;
      const what = builtCommit === null ? "runs from source" : "was built without a release key";
      if (release === null)
        throw new Error(`This program ${what}. Install a release to verify it.`);
      console.log(await verified(process.execPath, release.key, from ?? release.url));
    });
}

/** What the file is by the signed checksums of this version. Throws if it is no program of them. */
export async function verified(file: string, key: string, releases: string): Promise<string> {
  const url = `${releases}/v${version}/checksums.txt`;
  try {
    const [sums, signature] = await Promise.all([download(url), download(`${url}.minisig`)]);
    verifySignature(sums, signature, key);
    const hasher = new Bun.CryptoHasher("sha256");
    for await (const chunk of Bun.file(file).stream()) hasher.update(chunk);
    const hash = hasher.digest("hex");
    const line = sums.split("\n").find((each) => each.startsWith(`${hash}  skyhook-${version}-`));
    if (line !== undefined) return `verified: ${line.slice(hash.length + 2)} of ${url}`;
    throw new Error(`it does not list ${file}, whose SHA-256 is ${hash}`);
  } catch (error) {
    throw new Error(`Not verified by ${url}: ${reasonOf(error)}`, { cause: error });
  }
}

/** Within 15 s and 1 MiB. Follows redirects to other hosts: the signature counts. */
async function download(url: string): Promise<string> {
  const response = await plainFetch(url, { signal: AbortSignal.timeout(15_000) });
  if (!response.ok) throw new Error(`${url} has status ${response.status}`);
  return responseText(response, 1024 * 1024);
}

/** By minisign's format: "ED", the key's id of 8 bytes, and an Ed25519 signature of the content's BLAKE2b-512 hash. */
function verifySignature(content: string, file: string, publicKey: string): void {
  const key = Buffer.from(publicKey, "base64");
  const signed = Buffer.from(file.split("\n")[1] ?? "", "base64");
  const isByKey = signed.toString("latin1", 0, 10) === `ED${key.toString("latin1", 2, 10)}`;
  if (!isByKey) throw new Error("it is not signed with the release key");
  const jwk = { kty: "OKP", crv: "Ed25519", x: key.toString("base64url", 10) };
  const hash = new Bun.CryptoHasher("blake2b512").update(content).digest();
  const { verify } = nodeCrypto();
  if (verify(null, hash, { key: jwk, format: "jwk" }, signed.subarray(10))) return;
  throw new Error("its signature does not match its content");
}
