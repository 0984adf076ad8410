import { providerFileSchema } from "./provider-file.schema.ts";

/** The JSON Schema of provider files as text. */
export function publishedSchema(): string {
  const schema = { $schema: "http://json-schema.org/draft-07/schema#", ...providerFileSchema };
  return JSON.stringify(schema, null, 2);
}
