import { lexicographicSortSchema, printSchema } from "graphql";

import { schema } from "./schema.ts";

/** The schema as `schema.graphql` holds it. */
export function printedSchema(): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}

// `bun run schema` writes it. The test that compares it names what would break for clients.
if (import.meta.main) await Bun.write("schema.graphql", printedSchema());
