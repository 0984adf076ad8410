import { join } from "node:path";

export interface DocsFolder {
  /** Markdown by path below docs/, such as `operations.md` or `decisions/0012-the-console.md`. */
  readonly pages: Readonly<Record<string, string>>;
  /** Pictures by path, as base64. */
  readonly pictures: Readonly<Record<string, string>>;
}

/** The documentation. The compiled program contains it. */
export const docs = await readDocs();

/** Reads the folder docs/. */
async function readDocs(): Promise<DocsFolder> {
  const folder = join(import.meta.dir, "../../../docs");
  const read = async (glob: string, encoding: "utf8" | "base64") => {
    // Sorted, so that each build has the same bytes.
    const files = [...new Bun.Glob(glob).scanSync(folder)].toSorted();
    const entries = files.map(async (file) => {
      const bytes = await Bun.file(join(folder, file)).bytes();
      return [file.replaceAll("\\", "/"), Buffer.from(bytes).toString(encoding)] as const;
    });
    return Object.fromEntries(await Promise.all(entries));
  };
  return { pages: await read("**/*.md", "utf8"), pictures: await read("**/*.webp", "base64") };
}
