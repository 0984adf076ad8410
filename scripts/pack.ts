// Packs the npm packages into dist/npm, from the executables that `bun run build --target` left in dist/.
import { join } from "node:path";
import { parseArgs } from "node:util";

import { type Target, targets } from "./build.ts";
import { packNpm } from "./pack/npm.ts";

const usage = `bun scripts/pack.ts [--target TARGET …]`;
const root = join(import.meta.dir, "..");

const { values } = parseArgs({ options: { target: { type: "string", multiple: true } } });
const asked = targets.filter((target) => values.target?.includes(target) ?? true);
if (asked.length === 0) throw new Error(`No such target. Usage: ${usage}`);
const programOf = (target: Target) =>
  join(root, `dist/skyhook-${target}${target.startsWith("windows") ? ".exe" : ""}`);
const tarballs = await packNpm(asked, programOf, join(root, "dist/npm"));
for (const file of tarballs) console.log(`npm publish ${file}`);
