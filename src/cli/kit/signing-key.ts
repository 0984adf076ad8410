import { existsSync } from "node:fs";

import type { Config } from "../../config/config.ts";
import { tokenKey, tokenKeyFile } from "../../config/secrets.ts";
import type { TokenOptions } from "../../identity/auth/token.ts";

/** Whether the key that signs tokens exists. */
export function hasSigningKey({ jwtSecret, dataDir }: Config): boolean {
  return jwtSecret !== null || existsSync(tokenKeyFile(dataDir));
}

/**
 * The server's token settings. Throws if its key is not here: the server would not know a new one. `otherwise`: what
 * would also help, for the error.
 */
export function serverSigning(config: Config, otherwise: string | null = null): TokenOptions {
  const { jwtSecret, dataDir, jwtIssuer: issuer, jwtAudience: audience } = config;
  if (!hasSigningKey(config)) {
    const advice = otherwise === null ? "" : `${otherwise}, or `;
    throw new Error(
      `${dataDir} contains no signing key: ${advice}run this command with the server's DATA_DIR or JWT_SECRET`,
    );
  }
  return { key: tokenKey(jwtSecret, dataDir), issuer, audience };
}
