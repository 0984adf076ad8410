import { existsSync } from "node:fs";

import type { TokenOptions } from "../identity/auth/token.ts";
import type { Config } from "../config/config.ts";
import { tokenKey, tokenKeyFile } from "../config/secrets.ts";

/** Whether there is a key to sign tokens with, so that none has to be made. */
export function hasSigningKey({ jwtSecret, dataDir }: Config): boolean {
  return jwtSecret !== null || existsSync(tokenKeyFile(dataDir));
}

/** What the server signs tokens with. Throws when its key is not here: one made now it would not know. */
export function serverSigning(config: Config): TokenOptions {
  const { jwtSecret, dataDir, jwtIssuer: issuer, jwtAudience: audience } = config;
  if (!hasSigningKey(config)) {
    throw new Error(
      `There is no signing key in ${dataDir}: run this with the server's DATA_DIR or JWT_SECRET`,
    );
  }
  return { key: tokenKey(jwtSecret, dataDir), issuer, audience };
}
