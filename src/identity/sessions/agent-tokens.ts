import type { Clock } from "../../base/clock.ts";
import { type Context, requireOperator } from "../../base/context.ts";
import { makeSecret, sha256 } from "../../base/crypto.ts";
import type { AppError } from "../../base/errors.ts";
import type { MakeId } from "../../base/ids.ts";
import { bodyReader, invalid } from "../../base/validation.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Audit } from "../audit/audit.ts";
import { notRevoked } from "../users/ended-access.ts";

import { type AgentToken, agentTokenInputSchema } from "./agent-token.schema.ts";
import type { ConsoleSession } from "./session.ts";
import { deleteExpiredSessions, insertAgentIfRoom, sessionByHash } from "./sessions.sql.ts";

/** Secret scanners recognize tokens by it. */
export const agentTokenPrefix = "skyhook_mcp_";
/** The tokens of one operator that are valid at the same time. */
const maxPerActor = 20;
const dayMs = 86_400_000;

/** Tokens for agents that cannot sign in by themselves. Each is a session, which can be ended. */
export interface AgentTokens {
  /**
   * Makes a token for the agent of an operator. It never has the role admin. `address`: that of the client. Throws
   * `validation-failed` if the operator has too many.
   */
  create(ctx: Context, body: unknown, address: string): Promise<AgentToken>;
  /** The session of a token; null if it is unknown, has expired or was ended. */
  find(token: string): Promise<ConsoleSession | null>;
}

const readInput = bodyReader(agentTokenInputSchema, "validation-failed");

export function agentTokens(
  storage: Storage,
  audit: Audit,
  clock: Clock,
  makeId: MakeId,
): AgentTokens {
  return {
    async create(ctx, body, address) {
      requireOperator(ctx);
      const { name, days = 7, allowed = [] } = readInput(body);
      const now = clock.now();
      const token = `${agentTokenPrefix}${makeSecret()}`;
      const session: ConsoleSession = {
        id: makeId("ses", now),
        kind: "agent",
        allowed,
        actor: ctx.actor.id,
        roles: ["operator"],
        address,
        userAgent: name,
        createdAt: new Date(now),
        expiresAt: new Date(now + days * dayMs),
      };
      const row = { ...session, hash: sha256(token), now: new Date(now), max: maxPerActor };
      await storage.atomically(
        write(deleteExpiredSessions, { now: new Date(now) }),
        write(insertAgentIfRoom, row, tooMany()),
        audit.entry(ctx, "agent.token_created", session.id, detailOf(session)),
        notRevoked(ctx),
      );
      return { ...session, token };
    },
    async find(token) {
      const [found] = await storage.all(sessionByHash, { hash: sha256(token), kind: "agent" });
      return found !== undefined && found.expiresAt.getTime() > clock.now() ? found : null;
    },
  };
}

function detailOf({ userAgent, allowed, expiresAt }: ConsoleSession): string {
  const lines = [`name: ${userAgent}`, `until: ${expiresAt.toISOString()}`];
  return [...lines, ...(allowed.length > 0 ? [`allowed: ${allowed.join(", ")}`] : [])].join("\n");
}

function tooMany(): AppError {
  return invalid(
    "",
    `You have ${maxPerActor} tokens for agents, the most allowed. Revoke one first.`,
  );
}
