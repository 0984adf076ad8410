import { jwt } from "@elysiajs/jwt";

import type { Clock } from "../../base/clock.ts";
import type { Role } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import type { IdempotencyRecord } from "../idempotency/idempotency.ts";
import { insertIdempotency } from "../idempotency/idempotency.sql.ts";
import { step } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";

import type { AccessToken } from "./clients.ts";
import { maxTokenLength, sessionOf, type TokenOptions, type Tokens } from "./token.ts";

/** How long a code is good: long enough to click a link. */
export const codeTtlSeconds = 120;
/** A working day: then the console asks to sign in again. */
const tokenTtlSeconds = 8 * 3_600;
/** Where the clocks of instances differ, one must not forget a code that another still takes. */
const keptSpentMs = 600_000;
/** Whoever signs in by a link of the command line: the machine's operator, no user of ours. */
const consoleActorId = "skyhook-console";

const algorithm = "HS256";
/** Another type than access tokens have: neither passes for the other (RFC 8725 section 3.11). */
const type = "skyhook-console-code+jwt";

/** A code that opens the console once. Who has the server's signing key can make one. */
export function mintConsoleCode(
  issuing: TokenOptions,
  role: Role,
  clock: Clock,
  ttlSeconds = codeTtlSeconds,
): Promise<string> {
  const exp = Math.floor(clock.now() / 1_000) + ttlSeconds;
  const claims = { sub: consoleActorId, jti: crypto.randomUUID(), exp, roles: [role] };
  return signerOf(issuing).sign(claims);
}

export interface ConsoleCodes {
  /** An access token for a code, which is spent with that. Throws `invalid-token`. */
  exchange(code: string): Promise<AccessToken>;
}

export function consoleCodes(
  issuing: TokenOptions,
  storage: Storage,
  tokens: Tokens,
  clock: Clock,
): ConsoleCodes {
  const signer = signerOf(issuing);

  async function verified(code: string) {
    if (code.length > maxTokenLength) throw invalidCode();
    const claims: unknown = await signer.verify(code, {
      algorithms: [algorithm],
      typ: type,
      issuer: issuing.issuer,
      audience: issuing.audience,
      requiredClaims: ["exp", "jti", "sub"],
      currentDate: new Date(clock.now()),
    });
    const session = sessionOf(claims);
    const { jti }: { jti?: unknown } = typeof claims === "object" && claims !== null ? claims : {};
    if (session === null || typeof jti !== "string") throw invalidCode();
    return { ...session, jti };
  }

  return {
    async exchange(code) {
      const { actor, expiresAt, jti } = await verified(code);
      // Spent in the database, so once among all processes that share it.
      const spent: IdempotencyRecord = {
        scope: "console-code",
        key: jti,
        requestHash: new Uint8Array(),
        resourceId: "",
        createdAt: new Date(clock.now()),
        expiresAt: new Date(expiresAt.getTime() + keptSpentMs),
      };
      await storage.atomically(step(insertIdempotency, spent, invalidCode()));
      const token = await tokens.mint(actor, tokenTtlSeconds);
      return { access_token: token, token_type: "Bearer", expires_in: tokenTtlSeconds };
    },
  };
}

function signerOf({ key, issuer, audience }: TokenOptions) {
  return jwt({ secret: key, alg: algorithm, typ: type, iss: issuer, aud: audience }).decorator.jwt;
}

function invalidCode(): AppError {
  const detail =
    "This link has been used, has expired, or was made with another server's key: run `skyhook console` with this server's settings for a new one";
  return new AppError("invalid-token", detail);
}
