import type { Clock } from "../../base/clock.ts";
import {
  type Context,
  isAdmin,
  requireAdmin,
  requireOperator,
  type Verify,
} from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import type { FiltersOf } from "../../base/filters.ts";
import { isId } from "../../base/ids.ts";
import type { Page, PageRequest } from "../../base/page.ts";
import { bodyReader } from "../../base/validation.ts";
import { paginate } from "../../db/paginate.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Audit } from "../audit/audit.ts";
import { invalidToken, TokenRefusal } from "../auth/refusal.ts";

import {
  type ApiKey,
  apiKeyInputSchema,
  defaultKeyDays,
  type NewApiKey,
} from "./api-key.schema.ts";
import type { keyFilters } from "./session-filters.ts";
import type { ConsoleSession } from "./session.ts";
import { deleteExpiredSessions, deleteOwn, keyById, sessionPages } from "./sessions.sql.ts";
import { type StoredTokens, tokenKinds } from "./stored-tokens.ts";

/** API keys of programs. A key acts as who made it, with the role of the key. */
export interface ApiKeys {
  /**
   * Makes a key for the caller. `address`: that of the client. Throws `insufficient-scope` for a role that the caller
   * does not have, and as `StoredTokens.make`.
   */
  create(ctx: Context, body: unknown, address: string): Promise<NewApiKey>;
  /** Newest first: the caller's own, for admins all. Throws `insufficient-scope` for another actor's. */
  list(
    ctx: Context,
    page: PageRequest,
    filters?: FiltersOf<typeof keyFilters>,
  ): Promise<Page<ApiKey>>;
  /** A key of the caller, for admins any. Throws `not-found`. */
  get(ctx: Context, id: string): Promise<ApiKey>;
  /** Ends a key at once. Throws as `get`. */
  revoke(ctx: Context, id: string): Promise<ApiKey>;
  /** Verifies API keys, and other tokens as `others` does. */
  signIn(others: Verify): Verify;
}

const readInput = bodyReader(apiKeyInputSchema, "validation-failed");

export function apiKeys(
  stored: StoredTokens,
  storage: Storage,
  audit: Audit,
  clock: Clock,
): ApiKeys {
  async function find(ctx: Context, id: string): Promise<ConsoleSession> {
    const [found] = isId("ses", id) ? await storage.all(keyById, { id }) : [];
    if (found && (isAdmin(ctx) || found.actor === ctx.actor.id)) return found;
    throw unknownKey();
  }

  return {
    async create(ctx, body, address) {
      const { name, role = "user", days = defaultKeyDays } = readInput(body);
      if (role === "admin") requireAdmin(ctx);
      if (role === "operator") requireOperator(ctx);
      const key = { name, days, roles: [role], allowed: [], address };
      const { session, secret } = await stored.make(ctx, tokenKinds.key, key);
      return { ...keyOf(session), key: secret };
    },
    async list(ctx, request, { actor } = {}) {
      if (actor !== undefined && actor !== ctx.actor.id) requireAdmin(ctx);
      await storage.atomically(write(deleteExpiredSessions, { now: new Date(clock.now()) }));
      const filters = { kind: "key", actor: isAdmin(ctx) ? actor : ctx.actor.id };
      const page = await paginate(sessionPages(storage, filters), request);
      return { ...page, data: page.data.map(keyOf) };
    },
    get: async (ctx, id) => keyOf(await find(ctx, id)),
    async revoke(ctx, id) {
      const session = await find(ctx, id);
      const { actor } = session;
      await storage.atomically(
        write(deleteOwn, { id: session.id, actor, kinds: ["key"] }, unknownKey()),
        audit.entry(ctx, "key.revoked", session.id),
      );
      return keyOf(session);
    },
    signIn: (others) => async (token) => {
      if (!token.startsWith(tokenKinds.key.prefix)) return others(token);
      const found = await stored.find(tokenKinds.key, token);
      if (found === null) {
        throw invalidToken(new TokenRefusal("key", "no API key is stored for it"));
      }
      const { id, actor, roles, userAgent: name, expiresAt, createdAt: issuedAt } = found;
      const why = async () => ((await stored.find(tokenKinds.key, token)) ? null : "revoked");
      return { actor: { id: actor, roles }, expiresAt, issuedAt, key: { id, name }, why };
    },
  };
}

const unknownKey = () => new AppError("not-found", "You have no API key with this id.");

function keyOf({ id, userAgent, roles, actor, ...times }: ConsoleSession): ApiKey {
  const { createdAt, expiresAt, lastUsedAt } = times;
  const [role = "user"] = roles;
  return { id, name: userAgent, role, actor, createdAt, expiresAt, lastUsedAt };
}
