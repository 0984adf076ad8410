import { setNewest } from "../../base/bounded-map.ts";
import type { Clock } from "../../base/clock.ts";
import { type Context, requireAdmin, requireNoKey, requireOperator } from "../../base/context.ts";
import { isSecret, makeSecret, sha256 } from "../../base/crypto.ts";
import type { MakeId } from "../../base/ids.ts";
import { bodyReader, invalid } from "../../base/validation.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Audit } from "../audit/audit.ts";
import { notRevoked } from "../users/ended-access.ts";

import type { ConsoleSession } from "./session.ts";
import {
  deleteExpiredSessions,
  insertIfRoom,
  sessionByHash,
  updateLastUse,
} from "./sessions.sql.ts";
import {
  type AgentToken,
  agentTokenInputSchema,
  apiKeyInputSchema,
  defaultKeyDays,
  type NewApiKey,
} from "./token.schema.ts";

/** Secret scanners recognize tokens by it. */
export const tokenPrefixes = { agent: "skyhook_mcp_", key: "skyhook_key_" } as const;
type Kind = keyof typeof tokenPrefixes;

/** Tokens of programs, of which a hash is stored. Each is a session, which can be ended. */
export interface StoredTokens {
  /**
   * Makes a token for the agent of an operator. It never has the role admin. `address`: that of the client. Throws
   * `insufficient-scope`, also for an API key, and `validation-failed` if the operator has too many.
   */
  createAgentToken(ctx: Context, body: unknown, address: string): Promise<AgentToken>;
  /** Makes an API key, which has at most the role of the caller. Throws as `createAgentToken`. */
  createKey(ctx: Context, body: unknown, address: string): Promise<NewApiKey>;
  /** The session of a token, whose use is recorded; null if it is unknown, has expired or was ended. */
  find(kind: Kind, token: string): Promise<ConsoleSession | null>;
}

/** The tokens of one kind and actor that are valid at the same time. */
const maxPerActor = 20;
const dayMs = 86_400_000;
/** How exact the last use is. */
const useMs = 300_000;
/** The tokens whose last use this process remembers to have stored. */
const maxUsed = 5_000;

const readAgentToken = bodyReader(agentTokenInputSchema, "validation-failed");
const readKey = bodyReader(apiKeyInputSchema, "validation-failed");

type Given = Pick<ConsoleSession, "name" | "roles" | "allowed" | "address">;

export function storedTokens(
  storage: Storage,
  audit: Audit,
  clock: Clock,
  makeId: MakeId,
  log: Log,
): StoredTokens {
  const usedAtMs = new Map<string, number>();

  async function make(ctx: Context, kind: Kind, days: number, given: Given) {
    const now = clock.now();
    const token = `${tokenPrefixes[kind]}${makeSecret()}`;
    const session: ConsoleSession = {
      id: makeId("ses", now),
      kind,
      ...given,
      actor: requireNoKey(ctx).actor.id,
      createdAt: new Date(now),
      expiresAt: new Date(now + days * dayMs),
      lastUsedAt: null,
    };
    const row = { ...session, hash: sha256(token), now: new Date(now), max: maxPerActor };
    const what = kind === "key" ? "API keys" : "tokens for agents";
    const tooMany = `You have ${maxPerActor} ${what}, the most allowed. Revoke one first.`;
    const action = kind === "key" ? "key.created" : "agent.token_created";
    await storage.atomically(
      write(deleteExpiredSessions, { now: new Date(now) }),
      write(insertIfRoom, row, invalid("", tooMany)),
      audit.entry(ctx, action, session.id, detailOf(session)),
      notRevoked(ctx),
    );
    return { session, token };
  }

  /** Stores the last use, at most once in `useMs`. The request does not wait for it, nor fail with it. */
  function use({ id, lastUsedAt }: ConsoleSession): void {
    const now = clock.now();
    if (now - Math.max(usedAtMs.get(id) ?? 0, lastUsedAt?.getTime() ?? 0) < useMs) return;
    setNewest(usedAtMs, id, now, maxUsed);
    const times = { now: new Date(now), until: new Date(now - useMs) };
    storage
      .atomically(write(updateLastUse, { id, ...times }))
      .catch((error: unknown) => log.warn({ session: id, error }, "last use not stored"));
  }

  return {
    async createAgentToken(ctx, body, address) {
      requireOperator(ctx);
      const { name, days = 7, allowed = [] } = readAgentToken(body);
      const given = { name, roles: ["operator"], allowed, address } as const;
      const { session, token } = await make(ctx, "agent", days, given);
      return { ...session, token };
    },
    async createKey(ctx, body, address) {
      const { name, role = "user", days = defaultKeyDays } = readKey(body);
      if (role === "admin") requireAdmin(ctx);
      if (role === "operator") requireOperator(ctx);
      const given = { name, roles: [role], allowed: [], address };
      const { session, token } = await make(ctx, "key", days, given);
      return { ...session, key: token };
    },
    async find(kind, token) {
      const prefix = tokenPrefixes[kind];
      if (!token.startsWith(prefix) || !isSecret(token.slice(prefix.length))) return null;
      const [found] = await storage.all(sessionByHash, { hash: sha256(token) });
      if (found?.kind !== kind || found.expiresAt.getTime() <= clock.now()) return null;
      use(found);
      return found;
    },
  };
}

function detailOf({ name, roles, allowed, expiresAt }: ConsoleSession): string {
  const lines = [`name: ${name}`, `role: ${roles.join(", ")}`, `until: ${expiresAt.toISOString()}`];
  return [...lines, ...(allowed.length > 0 ? [`allowed: ${allowed.join(", ")}`] : [])].join("\n");
}
