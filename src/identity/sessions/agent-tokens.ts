import { type Context, requireOperator } from "../../base/context.ts";
import { bodyReader } from "../../base/validation.ts";

import { type AgentToken, agentTokenInputSchema } from "./agent-token.schema.ts";
import type { ConsoleSession } from "./session.ts";
import { type StoredTokens, tokenKinds } from "./stored-tokens.ts";

/** Tokens for agents that cannot sign in by themselves. */
export interface AgentTokens {
  /**
   * Makes a token for the agent of an operator. It never has the role admin. `address`: that of the client. Throws as
   * `StoredTokens.make`.
   */
  create(ctx: Context, body: unknown, address: string): Promise<AgentToken>;
  /** The session of a token; null if it is unknown, has expired or was ended. */
  find(token: string): Promise<ConsoleSession | null>;
}

const readInput = bodyReader(agentTokenInputSchema, "validation-failed");

export function agentTokens(stored: StoredTokens): AgentTokens {
  return {
    async create(ctx, body, address) {
      requireOperator(ctx);
      const { name, days = 7, allowed = [] } = readInput(body);
      const token = { name, days, allowed, roles: ["operator"] as const, address };
      const { session, secret } = await stored.make(ctx, tokenKinds.agent, token);
      return { ...session, token: secret };
    },
    find: (token) => stored.find(tokenKinds.agent, token),
  };
}
