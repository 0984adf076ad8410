// Signs the checksums of dist/release. It imports no package, so that none runs where the secret key is.
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";

import { version } from "../src/base/version.ts";

import { output } from "./command.ts";
import { releaseOf } from "./release-key.ts";

const root = join(import.meta.dir, "..");

/** Signs the file with the key in the file MINISIGN_KEY_FILE, which must be that of deploy/release.pub. */
async function sign(file: string): Promise<void> {
  const { key } = releaseOf(root);
  const { MINISIGN_KEY_FILE: secretKey = "" } = process.env;
  if (!existsSync(secretKey)) {
    throw new Error("MINISIGN_KEY_FILE names no file. Set it to that of minisign's secret key.");
  }
  if (!existsSync(file)) throw new Error(`There is no ${file}. Run: bun scripts/release.ts`);
  // Without a time, so that signing again gives the same bytes.
  const comment = `skyhook ${version}`;
  await output(["minisign", "-S", "-s", secretKey, "-m", file, "-t", comment, "-c", comment]);
  try {
    await output(["minisign", "-V", "-P", key, "-m", file]);
  } catch (cause) {
    rmSync(`${file}.minisig`);
    const message = "The secret key is not that of deploy/release.pub, so nothing is signed";
    throw new Error(message, { cause });
  }
}

await sign(join(root, "dist/release/checksums.txt")).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
