import type { Session, Verify } from "../../base/context.ts";
import { invalidToken, TokenRefusal } from "../auth/refusal.ts";

import type { Allowance } from "./session.ts";
import { type StoredTokens, tokenPrefixes } from "./stored-tokens.ts";

/** Where agents connect. With PUBLIC_URL before it, the audience of their access tokens (RFC 8707). */
export const mcpPath = "/mcp";

/** The bearer of a token that is valid at `/mcp`. */
export interface AgentSession extends Session {
  /** What it may do beyond reading. */
  readonly allowed: readonly Allowance[];
  /** Whose calls are limited together: the id of the session for a token for an agent, otherwise the actor. */
  readonly caller: string;
}

/**
 * Returns the session of a token for an agent, or of an access token that `verify` accepts, which may do what
 * `allowed` names. Throws `invalid-token`.
 */
export function agentSignIn(
  storedTokens: Pick<StoredTokens, "find">,
  verify: Verify,
  allowed: readonly Allowance[],
): Verify<AgentSession> {
  return async (token) => {
    if (token.startsWith(tokenPrefixes.key)) {
      throw invalidToken(new TokenRefusal("audience", "API keys are not accepted at /mcp"));
    }
    if (!token.startsWith(tokenPrefixes.agent)) {
      const session = await verify(token);
      return { ...session, allowed, caller: session.actor.id };
    }
    const found = await storedTokens.find("agent", token);
    if (found === null) {
      throw invalidToken(new TokenRefusal("key", "no token for an agent is stored for it"));
    }
    const { id, actor, roles, expiresAt, allowed: granted, createdAt: issuedAt } = found;
    return { actor: { id: actor, roles }, expiresAt, issuedAt, allowed: granted, caller: id };
  };
}
