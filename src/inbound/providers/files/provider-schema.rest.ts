import { asset } from "../../../web/asset.ts";
import { assetsRest } from "../../../web/rest/assets.rest.ts";

import { extensionSchema } from "./extension.schema.ts";
import { providerFileSchema } from "./provider-file.schema.ts";

/** The JSON Schema of provider files, for editors. Public: it describes the program, not this server. */
export const providerSchemaRest = () =>
  assetsRest("provider-schema", {
    "/schemas/provider.json": asset("json", async () => publishedSchema()),
  });

/** The JSON Schema of provider files as text. */
export function publishedSchema(): string {
  const anyOf = [providerFileSchema, extensionSchema];
  const schema = { $schema: "http://json-schema.org/draft-07/schema#", anyOf };
  return JSON.stringify(schema, null, 2);
}
