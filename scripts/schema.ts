import {
  buildSchema,
  findBreakingChanges,
  findDangerousChanges,
  lexicographicSortSchema,
  printSchema,
} from "graphql";

import { schema } from "../src/graphql-schema.ts";

/** Where the printed schema is kept, seen from the root of the repository. */
export const schemaFile = "schema.graphql";

/** The schema as `schema.graphql` holds it. */
export function printedSchema(): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}

/** What clients of the schema `before` would stumble over in `after`, a line each. */
export function changesThatBreak(before: string, after: string): string[] {
  const [old, current] = [buildSchema(before), buildSchema(after)];
  const changes = [...findBreakingChanges(old, current), ...findDangerousChanges(old, current)];
  return changes.map(({ description }) => description);
}

/** `bun run schema` writes the schema; what would break clients only with `--breaking`. */
async function write(isAllowedToBreak: boolean): Promise<void> {
  const file = Bun.file(schemaFile);
  const after = printedSchema();
  const changes = (await file.exists()) ? changesThatBreak(await file.text(), after) : [];
  if (changes.length > 0 && !isAllowedToBreak) {
    console.error(`Not written, since clients may break:\n  ${changes.join("\n  ")}`);
    console.error("If that is meant: bun run schema --breaking");
    process.exitCode = 1;
    return;
  }
  await file.write(after);
  console.log(`Wrote ${schemaFile}`);
}

if (import.meta.main) await write(process.argv.includes("--breaking"));
