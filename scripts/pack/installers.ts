import { join } from "node:path";

const deploy = join(import.meta.dir, "../../deploy");

interface Release {
  readonly version: string;
  /** The address under which each release has a folder, such as `v0.1.0`. */
  readonly base: string;
}

/** deploy/install.sh for a release. `publicKey`: the second line of minisign's file. */
export function installer({
  version,
  base,
  publicKey,
}: Release & { readonly publicKey: string }): Promise<string> {
  return filledIn("install.sh", { VERSION: version, BASE_URL: base, PUBLIC_KEY: publicKey });
}

/**
 * deploy/homebrew/skyhook.rb for a release. `sums`: the SHA-256 of each file by its name. Throws an `Error` if that of an
 * archive is missing.
 */
export function formula({
  version,
  base,
  sums,
}: Release & { readonly sums: ReadonlyMap<string, string> }): Promise<string> {
  const hashes = [...sums].map(([name, hash]) => {
    const target = name.replace(`skyhook-${version}-`, "").replace(".tar.gz", "");
    return [`SHA256 ${target}`, hash] as const;
  });
  return filledIn("homebrew/skyhook.rb", {
    VERSION: version,
    BASE_URL: base,
    HOMEPAGE: base.replace(/\/releases\/download$/, ""),
    ...Object.fromEntries(hashes),
  });
}

/** A file of deploy/ with its words between `@` replaced. */
async function filledIn(file: string, words: Readonly<Record<string, string>>): Promise<string> {
  const template = await Bun.file(join(deploy, file)).text();
  return template.replaceAll(/@([A-Z\d_]+(?: [a-z\d-]+)?)@/g, (_, word: string) => {
    const value = words[word];
    if (value === undefined) throw new Error(`deploy/${file} needs ${word}, which is missing`);
    // Nothing that a shell or Ruby would interpret.
    if (!/^[\w./:+=-]+$/.test(value)) throw new Error(`${word} cannot be "${value}"`);
    return value;
  });
}
