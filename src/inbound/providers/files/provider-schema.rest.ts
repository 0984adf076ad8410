import { asset, assetsRest } from "../../../web/rest/asset.ts";

import { publishedSchema } from "./published-schema.ts";

/** The JSON Schema of provider files, for editors. Public: it describes the program, not this server. */
export const providerSchemaRest = () =>
  assetsRest("provider-schema", {
    "/schemas/provider.json": asset("json", async () => publishedSchema()),
  });
