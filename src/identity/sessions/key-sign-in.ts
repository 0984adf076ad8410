import type { Verify } from "../../base/context.ts";
import { invalidToken, TokenRefusal } from "../auth/refusal.ts";

import { type StoredTokens, tokenPrefixes } from "./stored-tokens.ts";

/** Verifies API keys, and other tokens as `others` does. A key acts as its maker, with the role of the key. */
export function keySignIn(stored: Pick<StoredTokens, "find">, others: Verify): Verify {
  return async (token) => {
    if (!token.startsWith(tokenPrefixes.key)) return others(token);
    const found = await stored.find("key", token);
    if (found === null) throw invalidToken(new TokenRefusal("key", "no API key is stored for it"));
    const { id, name, actor, roles, expiresAt, createdAt: issuedAt } = found;
    const whyEnded = async () => ((await stored.find("key", token)) === null ? "revoked" : null);
    return { actor: { id: actor, roles }, expiresAt, issuedAt, key: { id, name }, whyEnded };
  };
}
