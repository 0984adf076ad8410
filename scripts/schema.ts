import {
  buildSchema,
  findBreakingChanges,
  findDangerousChanges,
  type GraphQLSchema,
  lexicographicSortSchema,
  printSchema,
} from "graphql";

import { createSchema } from "../src/graphql-schema.ts";
import { startApp } from "../test/support/app.ts";

/** Relative to the root of the repository. */
const schemaFile = "schema.graphql";

/** The content of `schema.graphql`. */
export function printedSchema(schema: GraphQLSchema): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}

/** Describes the changes from `before` to `after` that can break clients. */
export function changesThatBreak(before: string, after: string): string[] {
  const [old, current] = [buildSchema(before), buildSchema(after)];
  const changes = [...findBreakingChanges(old, current), ...findDangerousChanges(old, current)];
  return changes.map(({ description }) => description);
}

/** `bun run schema` writes the file. Changes that can break clients require `--breaking`. */
async function write(after: string, isAllowedToBreak: boolean): Promise<void> {
  const file = Bun.file(schemaFile);
  const changes = (await file.exists()) ? changesThatBreak(await file.text(), after) : [];
  if (changes.length > 0 && !isAllowedToBreak) {
    console.error(
      `schema.graphql was not written. These changes can break clients:\n  ${changes.join("\n  ")}`,
    );
    console.error("If they are intended, run: bun run schema --breaking");
    process.exitCode = 1;
    return;
  }
  await file.write(after);
  console.log(`Wrote ${schemaFile}`);
}

if (import.meta.main) {
  const app = await startApp();
  await write(printedSchema(await createSchema(app.services)), process.argv.includes("--breaking"));
  await app.stop();
}
