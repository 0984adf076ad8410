import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** The text of each file of the folder catalogue/ by its name. The compiled program contains them. */
export const catalogueTexts = readFolder();

function readFolder(): Readonly<Record<string, string>> {
  const folder = join(import.meta.dir, "catalogue");
  // Sorted, so that each build has the same bytes.
  const files = readdirSync(folder).toSorted();
  return Object.fromEntries(
    files.map((file) => [basename(file, ".yaml"), readFileSync(join(folder, file), "utf8")]),
  );
}
