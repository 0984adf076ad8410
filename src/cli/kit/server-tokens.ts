import { systemClock } from "../../base/clock.ts";
import type { Role } from "../../base/context.ts";
import type { Config } from "../../config/config.ts";
import { tokens } from "../../identity/auth/token.ts";

import { UsageError } from "./output.ts";
import { type Answer, problemOf } from "./request.ts";
import { serverSigning } from "./signing-key.ts";

/** Long enough for two requests. */
const tokenTtlSeconds = 60;
/** A stream ends with its token, and continues with the next one. */
export const streamTokenTtlSeconds = 3_600;

/** What the server answers instead of a result. If it rejects the token, also which variable to set. */
export function serverError(answer: Answer, role: Role): string {
  const message = `The server answers ${answer.status} ${problemOf(answer)}`;
  if (answer.status !== 401 && answer.status !== 403) return message;
  const { variable, owner } = tokenOf(role);
  const orKey = answer.status === 401 ? ", or use the server's DATA_DIR or JWT_SECRET" : "";
  return `${message.replace(/\.$/, "")}. Set ${variable} to a valid ${owner}'s token${orKey}.`;
}

/**
 * Commands for admins do not use OPERATOR_TOKEN: with an operator's token, `destination add` would create a
 * destination of that person, which receives no webhooks.
 */
function tokenOf(role: Role) {
  return role === "admin"
    ? ({ variable: "ADMIN_TOKEN", owner: "admin" } as const)
    : ({ variable: "OPERATOR_TOKEN", owner: "operator" } as const);
}

/**
 * Returns how to get a token for the next one or two requests to the server: ADMIN_TOKEN if the role is admin,
 * else OPERATOR_TOKEN. If it is not set, makes one with the server's signing key. Throws if that is not possible,
 * because an identity provider is configured or the key is not here. `ttlSeconds`: for requests that last longer.
 */
export function serverTokens(
  config: Config,
  env: NodeJS.ProcessEnv,
  role: Role,
  ttlSeconds = tokenTtlSeconds,
): () => Promise<string> {
  const { variable, owner } = tokenOf(role);
  const token = (env[variable] ?? "").trim();
  // `fetch` would quote a token with other characters in its error.
  if (/^[\x21-\x7e]+$/.test(token)) return () => Promise.resolve(token);
  const advice = `set ${variable} to an ${owner}'s token`;
  if (config.jwksUrl !== null) {
    throw new UsageError(
      `JWKS_URL is set, so only tokens of that identity provider are accepted: ${advice}`,
    );
  }
  const actor = { id: "skyhook-cli", roles: [role] } as const;
  const minting = tokens(serverSigning(config, advice), systemClock);
  return () => minting.mint(actor, ttlSeconds);
}
