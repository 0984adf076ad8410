import { existsSync } from "node:fs";

import type { TokenOptions } from "../auth/token.ts";
import type { Config } from "../config.ts";
import { tokenKey, tokenKeyFile } from "../secrets.ts";

/** What the server signs tokens with. Throws when its key is not here: one made now it would not know. */
export function serverSigning(config: Config): TokenOptions {
  const { jwtSecret, dataDir, jwtIssuer: issuer, jwtAudience: audience } = config;
  if (jwtSecret === null && !existsSync(tokenKeyFile(dataDir))) {
    throw new Error(
      `There is no signing key in ${dataDir}: run this with the server's DATA_DIR or JWT_SECRET`,
    );
  }
  return { key: tokenKey(jwtSecret, dataDir), issuer, audience };
}
