import { setNewest } from "../../base/bounded-map.ts";
import type { Clock } from "../../base/clock.ts";
import { type Context, requireNoKey } from "../../base/context.ts";
import { isSecret, makeSecret, sha256 } from "../../base/crypto.ts";
import type { MakeId } from "../../base/ids.ts";
import { invalid } from "../../base/validation.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Log } from "../../telemetry/log.ts";
import type { AuditAction } from "../audit/audit-entry.ts";
import type { Audit } from "../audit/audit.ts";
import { notRevoked } from "../users/ended-access.ts";

import type { ConsoleSession } from "./session.ts";
import {
  deleteExpiredSessions,
  insertIfRoom,
  sessionByHash,
  updateLastUse,
} from "./sessions.sql.ts";

interface TokenKind {
  readonly kind: ConsoleSession["kind"];
  /** Secret scanners recognize tokens by it. */
  readonly prefix: string;
  readonly created: AuditAction;
  /** In the error for too many. */
  readonly plural: string;
}

/** The kinds of token that are stored, as a hash. */
export const tokenKinds = {
  agent: {
    kind: "agent",
    prefix: "skyhook_mcp_",
    created: "agent.token_created",
    plural: "tokens for agents",
  },
  key: { kind: "key", prefix: "skyhook_key_", created: "key.created", plural: "API keys" },
} as const satisfies Record<string, TokenKind>;

interface NewToken extends Pick<ConsoleSession, "roles" | "allowed" | "address"> {
  readonly name: string;
  readonly days: number;
}

/** Tokens of programs. Each is a session, which can be ended. */
export interface StoredTokens {
  /**
   * Makes a token for the caller. Throws `validation-failed` if the caller has too many, and `insufficient-scope` for
   * an API key.
   */
  make(
    ctx: Context,
    kind: TokenKind,
    token: NewToken,
  ): Promise<{ readonly session: ConsoleSession; readonly secret: string }>;
  /** The session of a token, of which the use is stored; null if it is unknown, has expired or was ended. */
  find(kind: TokenKind, token: string): Promise<ConsoleSession | null>;
}

/** The tokens of a kind and actor that are valid at the same time. */
const maxPerActor = 20;
const dayMs = 86_400_000;
/** How exact the last use is. */
const useMs = 300_000;
/** The tokens of which this instance knows that it stored the last use. */
const maxUsed = 5_000;

export function storedTokens(
  storage: Storage,
  audit: Audit,
  clock: Clock,
  makeId: MakeId,
  log: Log,
): StoredTokens {
  const usedAtMs = new Map<string, number>();

  /** Stores the last use, at most once in `useMs`. The request does not wait, and succeeds if this fails. */
  function used({ id, lastUsedAt }: ConsoleSession): void {
    const now = clock.now();
    const last = Math.max(usedAtMs.get(id) ?? 0, lastUsedAt?.getTime() ?? 0);
    if (now - last < useMs) return;
    setNewest(usedAtMs, id, now, maxUsed);
    const times = { now: new Date(now), before: new Date(now - useMs + 1) };
    storage
      .atomically(write(updateLastUse, { id, ...times }))
      .catch((error: unknown) => log.warn({ session: id, error }, "last use not stored"));
  }

  return {
    async make(ctx, { kind, prefix, created, plural }, { name, days, ...given }) {
      const now = clock.now();
      const secret = `${prefix}${makeSecret()}`;
      const session: ConsoleSession = {
        ...given,
        id: makeId("ses", now),
        kind,
        actor: requireNoKey(ctx).actor.id,
        userAgent: name,
        createdAt: new Date(now),
        expiresAt: new Date(now + days * dayMs),
        lastUsedAt: null,
      };
      const row = { ...session, hash: sha256(secret), now: new Date(now), max: maxPerActor };
      const tooMany = `You have ${maxPerActor} ${plural}, the most allowed. Revoke one first.`;
      await storage.atomically(
        write(deleteExpiredSessions, { now: new Date(now) }),
        write(insertIfRoom, row, invalid("", tooMany)),
        audit.entry(ctx, created, session.id, detailOf(session)),
        notRevoked(ctx),
      );
      return { session, secret };
    },
    async find({ kind, prefix }, token) {
      if (!token.startsWith(prefix) || !isSecret(token.slice(prefix.length))) return null;
      const [found] = await storage.all(sessionByHash, { hash: sha256(token), kind });
      if (found === undefined || found.expiresAt.getTime() <= clock.now()) return null;
      used(found);
      return found;
    },
  };
}

function detailOf({ userAgent, roles, allowed, expiresAt }: ConsoleSession): string {
  const lines = [`name: ${userAgent}`, `role: ${roles.join(", ")}`];
  const beyond = allowed.length > 0 ? [`allowed: ${allowed.join(", ")}`] : [];
  return [...lines, `until: ${expiresAt.toISOString()}`, ...beyond].join("\n");
}
