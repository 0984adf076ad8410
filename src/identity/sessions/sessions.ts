import type { Clock } from "../../base/clock.ts";
import {
  type Actor,
  type Context,
  isAdmin,
  requireAdmin,
  requireNoKey,
  requireOperator,
} from "../../base/context.ts";
import { isSecret, makeSecret, sha256 } from "../../base/crypto.ts";
import { AppError } from "../../base/errors.ts";
import type { FiltersOf } from "../../base/filters.ts";
import { isId, type MakeId } from "../../base/ids.ts";
import type { Page, PageRequest } from "../../base/page.ts";
import { mergeSources } from "../../db/merge.ts";
import { paginate } from "../../db/paginate.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Audit } from "../audit/audit.ts";
import { notRevoked } from "../users/ended-access.ts";

import type { sessionFilters } from "./session-filters.ts";
import type { ConsoleSession } from "./session.ts";
import {
  deleteExpiredSessions,
  deleteSession,
  insertSession,
  oldSessions,
  sessionByHash,
  sessionById,
  sessionPages,
} from "./sessions.sql.ts";

/** Sessions of operators in the console, by cookie, and the tokens and API keys they made. */
export interface Sessions {
  /**
   * Opens a session for an operator. `replaced`: the cookie that the browser sent, whose session ends: a session
   * never outlives the sign-in that follows it. Throws `insufficient-scope`.
   */
  open(opening: Opening): Promise<{ readonly cookie: string; readonly session: ConsoleSession }>;
  /** The session of a cookie. Throws `invalid-token` if it has expired or ended. */
  read(cookie: string): Promise<ConsoleSession>;
  /** Ends the session of a cookie. Returns whether it existed. */
  close(cookie: string): Promise<boolean>;
  /** Newest first: for admins all, for operators the tokens and keys they made, for users their keys. */
  list(
    ctx: Context,
    request: PageRequest,
    filters?: FiltersOf<typeof sessionFilters>,
  ): Promise<Page<ConsoleSession>>;
  /** Ends a session: admins any, operators the tokens and keys they made. Throws `not-found`, and `insufficient-scope` for an API key. */
  revoke(ctx: Context, id: string): Promise<ConsoleSession>;
  /** An API key of the caller, for admins any. Throws `not-found`. */
  getKey(ctx: Context, id: string): Promise<ConsoleSession>;
  /** Ends an API key. Throws as `getKey`, and `insufficient-scope` for an API key that is not an admin's, except for itself. */
  revokeKey(ctx: Context, id: string): Promise<ConsoleSession>;
}

export interface Opening {
  readonly actor: Actor;
  /** When what it was opened with expires; null for a link. */
  readonly endsAt: Date | null;
  readonly address: string;
  readonly userAgent: string;
  readonly requestId: string;
  /** Of what it was opened with. */
  readonly issuedAt?: Date | undefined;
  readonly token?: string | undefined;
  readonly replaced: string | null;
}

/** The longest session. */
const sessionSeconds = 12 * 3_600;
/** The oldest end before, so that a script that signs in for each request does not fill the database. */
const maxSessionsPerActor = 200;
/** Sign-ins at the same time can leave more. Later ones end the others. */
const maxEndedAtOnce = 100;
const maxUserAgentLength = 200;
/** What an operator makes and can end. */
const madeKinds = ["agent", "key"] as const;

export function sessions(storage: Storage, audit: Audit, clock: Clock, makeId: MakeId): Sessions {
  async function find(cookie: string): Promise<ConsoleSession | null> {
    if (!isSecret(cookie)) return null;
    const [found] = await storage.all(sessionByHash, { hash: sha256(cookie) });
    const isValid = found?.kind === "console" && found.expiresAt.getTime() > clock.now();
    return isValid ? found : null;
  }

  /** Ends a session, and records that the one who had it did. */
  function closing({ id, actor, roles, expiresAt }: ConsoleSession, detail?: string) {
    const ctx = { actor: { id: actor, roles }, expiresAt, requestId: "" };
    return [write(deleteSession, { id }), audit.entry(ctx, "session.closed", id, detail)] as const;
  }

  /** Ends a session and records it, once: another request may have ended it. */
  async function end(session: ConsoleSession, detail?: string): Promise<void> {
    const [, entry] = closing(session, detail);
    await storage.atomically(write(deleteSession, { id: session.id }, "stop"), entry);
  }

  /** Call it after a session was stored: of several that open at once, the last one sees all of them. */
  async function endOldSessions(actor: Actor["id"]): Promise<void> {
    const limits = { keep: maxSessionsPerActor, limit: maxEndedAtOnce };
    const old = await storage.all(oldSessions, { actor, now: new Date(clock.now()), ...limits });
    await Promise.all(old.map((session) => end(session, "too many sessions")));
  }

  /** Only admins find sessions of the console, and what others made. Throws `not-found`. */
  async function findById(ctx: Context, id: string, what: What): Promise<ConsoleSession> {
    const [found] = isId("ses", id) ? await storage.all(sessionById, { id }) : [];
    const isOwn = found?.actor === ctx.actor.id && found.kind !== "console";
    const isWanted = what === "session" || found?.kind === what;
    if (found !== undefined && isWanted && (isAdmin(ctx) || isOwn)) return found;
    throw unknown(what);
  }

  async function revoke(ctx: Context, session: ConsoleSession, what: What) {
    await storage.atomically(
      write(deleteSession, { id: session.id }, unknown(what)),
      audit.entry(ctx, `${what}.revoked`, session.id),
    );
    return session;
  }

  return {
    async open({ actor, endsAt, address, userAgent, requestId, replaced, token, issuedAt }) {
      const now = clock.now();
      const opener = { actor, expiresAt: new Date(now), issuedAt: issuedAt ?? new Date(now) };
      const longest = now + sessionSeconds * 1_000;
      const expiresAt = new Date(Math.min(longest, endsAt?.getTime() ?? longest));
      const ctx = { actor, expiresAt, requestId };
      requireOperator(ctx);
      const cookie = makeSecret();
      const session: ConsoleSession = {
        id: makeId("ses", now),
        kind: "console",
        allowed: [],
        actor: actor.id,
        roles: actor.roles,
        address,
        name: printable(userAgent),
        createdAt: new Date(now),
        expiresAt,
        lastUsedAt: null,
      };
      const former = replaced === null ? null : await find(replaced);
      await storage.atomically(
        write(deleteExpiredSessions, { now: new Date(now) }),
        ...(former === null ? [] : closing(former, `replaced by ${session.id}`)),
        write(insertSession, { ...session, hash: sha256(cookie) }),
        audit.entry(ctx, "session.opened", session.id, address),
        notRevoked(token === undefined ? opener : { ...opener, token }),
      );
      await endOldSessions(actor.id);
      return { cookie, session };
    },
    async read(cookie) {
      const session = await find(cookie);
      if (session !== null) return session;
      throw new AppError("invalid-token", "The session has expired or was ended. Sign in again.");
    },
    async close(cookie) {
      const session = await find(cookie);
      if (session === null) return false;
      await end(session);
      return true;
    },
    async list(ctx, request, { kind, actor } = {}) {
      if (kind !== "key") requireOperator(ctx);
      if (kind === "console" || (actor ?? ctx.actor.id) !== ctx.actor.id) requireAdmin(ctx);
      await storage.atomically(write(deleteExpiredSessions, { now: new Date(clock.now()) }));
      if (isAdmin(ctx)) return paginate(sessionPages(storage, { kind, actor }), request);
      const own = (kind === undefined ? madeKinds : [kind]).map((each) =>
        sessionPages(storage, { kind: each, actor: ctx.actor.id }),
      );
      return paginate(mergeSources(own), request);
    },
    async revoke(ctx, id) {
      requireOperator(ctx);
      if (!isAdmin(ctx)) requireNoKey(ctx);
      return revoke(ctx, await findById(ctx, id, "session"), "session");
    },
    getKey: (ctx, id) => findById(ctx, id, "key"),
    async revokeKey(ctx, id) {
      const key = await findById(ctx, id, "key");
      if (!isAdmin(ctx) && ctx.key?.id !== id) requireNoKey(ctx);
      return revoke(ctx, key, "key");
    },
  };
}

const unknownDetails = {
  session: "No session has this id. It may have ended.",
  key: "You have no API key with this id.",
};
type What = keyof typeof unknownDetails;

const unknown = (what: What) => new AppError("not-found", unknownDetails[what]);

function printable(text: string): string {
  return text.replaceAll(/[^ -~]/g, "").slice(0, maxUserAgentLength);
}
