import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What a program and an installer need to verify a release. */
export interface Release {
  /** The second line of minisign's public key file. */
  readonly key: string;
  /** The URL under which each release has a folder, such as `v0.1.0`. */
  readonly url: string;
}

/** The key in deploy/release.pub and the repository in package.json. Throws an `Error` that says what is missing. */
export function releaseOf(root: string): Release {
  const file = join(root, "deploy/release.pub");
  if (!existsSync(file)) {
    throw new Error(
      "There is no deploy/release.pub. CONTRIBUTING.md says how to make the release key.",
    );
  }
  const key = readFileSync(file, "utf8").split("\n")[1]?.trim() ?? "";
  // minisign's form: "Ed", the key's id of 8 bytes and the key of 32 bytes.
  const isKey = /^RW[\w+/]{54}$/.test(key) && Buffer.from(key, "base64").length === 42;
  if (!isKey) throw new Error("deploy/release.pub is no public key of minisign");
  return { key, url: `${repositoryOf(root)}/releases/download` };
}

/** The address of the repository's page. */
export function repositoryOf(root: string): string {
  const manifest: { readonly repository?: { readonly url?: string } } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  const [, url] = /^git\+(https?:\/\/.+)\.git$/.exec(manifest.repository?.url ?? "") ?? [];
  if (url !== undefined) return url;
  throw new Error(
    'package.json names no repository: set {"url": "git+https://HOST/OWNER/NAME.git"}',
  );
}

/** The same; null for a build that is no release. */
export function releaseOrNull(root: string): Release | null {
  return existsSync(join(root, "deploy/release.pub")) ? releaseOf(root) : null;
}
