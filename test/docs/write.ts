// Writes the parts of docs/ and deploy/ that come from code.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { generatedParts, withPart } from "./generated.ts";

for (const part of generatedParts()) {
  const path = join(import.meta.dir, "../..", part.file);
  writeFileSync(path, withPart(readFileSync(path, "utf8"), part));
}
