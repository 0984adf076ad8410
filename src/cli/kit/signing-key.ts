import { existsSync } from "node:fs";

import { systemClock } from "../../base/clock.ts";
import type { Verify } from "../../base/context.ts";
import type { Config } from "../../config/config.ts";
import { tokenKey, tokenKeyFile } from "../../config/secrets.ts";
import { type TokenOptions, tokens } from "../../identity/auth/token.ts";
import { externalVerifier } from "../../wiring/identity.ts";

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

/** Verifies tokens as the server does. */
export function serverVerifier(config: Config): Verify {
  return externalVerifier(config, systemClock) ?? tokens(serverSigning(config), systemClock).verify;
}
