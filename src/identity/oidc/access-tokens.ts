import type { Clock } from "../../base/clock.ts";
import { openIdPrefix, type Verify } from "../../base/context.ts";
import { type ExternalTokens, jwksVerifier } from "../auth/jwks.ts";

import type { Issuer } from "./issuer.ts";

/** Verifies access tokens of an OpenID provider. Its users have the ids that they have in the console. */
export function issuerTokens(issuer: Issuer, expected: ExternalTokens, clock: Clock): Verify {
  let known: { readonly url: string; readonly verify: Verify } | null = null;
  return async (token) => {
    const url = await issuer.keysUrl();
    // The issuer's metadata may name other keys later.
    if (known?.url !== url) {
      known = { url, verify: jwksVerifier(url, expected, clock, issuer.fetch) };
    }
    const { actor, expiresAt } = await known.verify(token);
    return { actor: { ...actor, id: `${openIdPrefix}${actor.id}` }, expiresAt };
  };
}
