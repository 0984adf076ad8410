import { errors } from "jose";

import type { Clock } from "../../base/clock.ts";
import type { Session, Verify } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import { printable } from "../../base/payload.ts";
import { alikeEntries } from "../../telemetry/alike.ts";
import type { Log } from "../../telemetry/log.ts";
import type { EndedAccess } from "../users/ended-access.ts";

/** What a token is checked for, in this order. */
export const tokenChecks = [
  "form",
  "algorithm",
  "key",
  "signature",
  "time",
  "issuer",
  "audience",
  "type",
  "subject",
] as const;
export type TokenCheck = (typeof tokenChecks)[number];

/**
 * Why a token is refused: the check that it failed, and which setting would accept it. For the log and
 * `skyhook token explain`. Clients never learn it.
 */
export class TokenRefusal extends Error {
  override readonly name = "TokenRefusal";

  constructor(
    readonly check: TokenCheck,
    message: string,
    /** The settings that pass this check; empty if none does. */
    readonly remedy: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

/** The same answer for every invalid token, so that it reveals no reason. */
export function invalidToken(refusal: TokenRefusal): AppError {
  const detail = "The access token is not valid. Get a new one.";
  return new AppError("invalid-token", detail, { cause: refusal });
}

/** The refusal in an error of `jose`. */
export function refusalOf(error: unknown): TokenRefusal {
  if (error instanceof errors.JOSEAlgNotAllowed || error instanceof errors.JOSENotSupported) {
    return new TokenRefusal("algorithm", "its algorithm is not accepted");
  }
  if (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys
  ) {
    return new TokenRefusal("key", "no key of JWKS_URL has its key id and algorithm");
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return new TokenRefusal("signature", "its signature does not verify");
  }
  if (error instanceof errors.JWTExpired) return new TokenRefusal("time", "it has expired");
  if (error instanceof errors.JWTClaimValidationFailed) return claimRefusal(error);
  return new TokenRefusal("form", "it is not a signed JSON Web Token");
}

const checkOf: Readonly<Record<string, TokenCheck>> = {
  iss: "issuer",
  aud: "audience",
  sub: "subject",
  typ: "type",
};

function claimRefusal({ claim, reason, payload }: errors.JWTClaimValidationFailed): TokenRefusal {
  if (reason === "missing") {
    return new TokenRefusal(checkOf[claim] ?? "time", `it has no ${claim}`);
  }
  if (claim === "iss") {
    const iss = textOf(payload.iss);
    return new TokenRefusal("issuer", `its iss is ${iss}`, iss === "" ? {} : { JWT_ISSUER: iss });
  }
  if (claim === "aud") return audienceRefusal(payload.aud);
  return new TokenRefusal(checkOf[claim] ?? "time", `its ${claim} is not accepted`);
}

/** A token for this audience, which is not the configured one. */
export function audienceRefusal(found: unknown): TokenRefusal {
  const names = [found].flat().map(textOf);
  const [name = ""] = names;
  const message = `its audience is ${names.join(", ")}`;
  return new TokenRefusal("audience", message, name === "" ? {} : { JWT_AUDIENCE: name });
}

/** A value of a token, short and on one line. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? (printable(value, 200) ?? "") : "";
}

/** Logs why tokens are refused. Never the token. Anyone can send tokens, so equal entries are counted. */
export function loggedRefusals<Verified extends Session>(
  verify: Verify<Verified>,
  log: Log,
  clock: Clock,
): Verify<Verified> {
  const entries = alikeEntries(clock);
  return async (token) => {
    try {
      return await verify(token);
    } catch (error) {
      const refusal = error instanceof AppError ? error.extras.cause : undefined;
      if (refusal instanceof TokenRefusal) {
        const { check, message, remedy } = refusal;
        entries(check, (alike) =>
          log.warn(
            { check, remedy, alike: alike > 0 ? alike : undefined },
            `access token refused: ${message}`,
          ),
        );
      }
      throw error;
    }
  };
}

/** Verifies a token as `verify` does, and refuses those of erased users and revoked ones, which are valid until they expire. */
export function unlessEnded<Verified extends Session>(
  verify: Verify<Verified>,
  ended: Pick<EndedAccess, "why">,
): Verify<Verified> {
  return async (token) => {
    const session = await verify(token);
    const why = await ended.why(session);
    const whyEnded = async () => (await session.whyEnded?.()) ?? ended.why(session);
    if (why === null) return { ...session, whyEnded };
    const message = why === "erased" ? "its user was erased" : "it was revoked";
    throw invalidToken(new TokenRefusal("subject", message));
  };
}
