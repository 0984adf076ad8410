import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** Reads the folder catalogue/: the text of each file by its name. */
export function readCatalogueFolder(): Readonly<Record<string, string>> {
  const folder = join(import.meta.dir, "catalogue");
  // Sorted, so that each build has the same bytes.
  const files = readdirSync(folder).toSorted();
  return Object.fromEntries(
    files.map((file) => [basename(file, ".yaml"), readFileSync(join(folder, file), "utf8")]),
  );
}
