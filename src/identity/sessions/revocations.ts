import type { Static } from "@sinclair/typebox";

import type { Clock } from "../../base/clock.ts";
import {
  type Actor,
  commandPrefix,
  consolePrefix,
  type Context,
  openIdPrefix,
  requireAdmin,
  type Session,
  type Verify,
} from "../../base/context.ts";
import { sha256 } from "../../base/crypto.ts";
import { AppError } from "../../base/errors.ts";
import { bodyReader } from "../../base/validation.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Audit } from "../audit/audit.ts";
import type { CallerLimiter } from "../limiter.ts";
import { type EndedAccess, longestTokenMs } from "../users/ended-access.ts";
import { storedEmail } from "../users/fields.ts";
import { deleteExpiredRevocations, upsertRevocation } from "../users/revocations.sql.ts";
import { userByEmail } from "../users/users.sql.ts";

import { revocationInputSchema, type revocationSchema } from "./revocation.schema.ts";
import type { ConsoleSession } from "./session.ts";
import {
  deleteSession,
  deleteSessionsOf,
  deleteSessionsSince,
  sessionByHash,
  sessionsOf,
} from "./sessions.sql.ts";

interface Revocation extends Static<typeof revocationSchema> {}

/** Takes access away before it expires. Other instances follow within 5 seconds. */
export interface Revocations {
  /**
   * Revokes a token; if `client` is given, only one of its own. Returns whether it was valid; an invalid one writes
   * nothing. Throws `unavailable` if the keys of an identity provider cannot be read, and `too-many-requests`.
   */
  token(token: string, requestId: string, client?: Actor["id"]): Promise<boolean>;
  /**
   * Revokes all tokens of a subject that were issued until now, and ends its sessions, agents' tokens and keys. `others`: part of
   * the transaction. Throws `insufficient-scope` and `validation-failed`.
   */
  subject(ctx: Context, body: unknown, ...others: readonly Write<unknown>[]): Promise<Revocation>;
  /** Ends the sessions and tokens that have a role which their actor has lost. Only those from before the session began. */
  keepWithin(session: Pick<Session, "actor" | "issuedAt">): Promise<void>;
}

interface Parts {
  readonly storage: Storage;
  readonly audit: Audit;
  readonly ended: EndedAccess;
  readonly limiter: CallerLimiter;
  readonly clock: Clock;
  /** Each returns the session of tokens that it accepts, or throws `invalid-token`. */
  readonly verifiers: readonly Verify[];
}

const readInput = bodyReader(revocationInputSchema, "validation-failed");

export function revocations(parts: Parts): Revocations {
  const { storage, audit, ended, limiter, clock, verifiers } = parts;

  function revoking(ids: readonly string[], expiresAt: Date): readonly Write<unknown>[] {
    const createdAt = new Date(clock.now());
    const rows = ids.map((id) => write(upsertRevocation, { id, createdAt, expiresAt }));
    return [write(deleteExpiredRevocations, { now: createdAt }), ...rows];
  }

  async function sessionOf(token: string): Promise<Session | null> {
    for (const verify of verifiers) {
      try {
        return await verify(token);
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== "invalid-token") throw error;
      }
    }
    return null;
  }

  /** Ends sessions that somebody stored, in their name. */
  async function end(sessions: readonly ConsoleSession[], detail: string): Promise<void> {
    for (const { id, kind, actor, roles, expiresAt } of sessions) {
      const ctx = { actor: { id: actor, roles }, expiresAt, requestId: "" };
      await storage.atomically(
        write(deleteSession, { id }, "stop"),
        audit.entry(ctx, kind === "key" ? "key.revoked" : "session.revoked", id, detail),
      );
    }
  }

  return {
    async token(token, requestId, client) {
      const [stored] = await storage.all(sessionByHash, { hash: sha256(token) });
      if (stored !== undefined && stored.kind !== "console") {
        if (stored.expiresAt.getTime() <= clock.now()) return false;
        if (client !== undefined && stored.actor !== client) return false;
        await end([stored], "by its token");
        return true;
      }
      const session = await sessionOf(token);
      if (session === null || session.token === undefined) return false;
      const { actor, expiresAt, issuedAt = new Date(0) } = session;
      if (client !== undefined && actor.id !== client) return false;
      if ((await ended.why(session)) !== null) return false;
      limiter.count(session);
      await storage.atomically(
        ...revoking([session.token], expiresAt),
        // The holder of the token may have signed in to the console with it.
        write(deleteSessionsSince, { actor: actor.id, since: issuedAt }),
        audit.entry({ ...session, requestId }, "token.revoked", actor.id),
      );
      await ended.refresh();
      return true;
    },
    async subject(ctx, body, ...others) {
      requireAdmin(ctx);
      const subjects = await subjectsOf(storage, readInput(body).subject.trim());
      const revokedAt = new Date(clock.now());
      const until = new Date(clock.now() + longestTokenMs);
      // The audit list holds no e-mail addresses.
      const named = subjects.find((id) => !id.includes("@")) ?? "person";
      const [deleted] = await storage.atomically(
        write(deleteSessionsOf, { actors: subjects }),
        ...others,
        ...revoking(subjects.map(sha256), until),
        audit.entry(ctx, "access.revoked", named),
      );
      await ended.refresh();
      return { subjects, revokedAt, ended: deleted.changes };
    },
    async keepWithin({ actor, issuedAt }) {
      const until = issuedAt ?? new Date(clock.now());
      const stored = await storage.all(sessionsOf, { actor: actor.id, until });
      const lost = stored.filter(({ roles }) => roles.some((role) => !includes(actor, role)));
      await end(lost, "role lost");
    },
  };
}

function includes({ roles }: Actor, role: Actor["roles"][number]): boolean {
  return role === "user" || roles.includes(role) || roles.includes("admin");
}

/** The ids that an e-mail address or id stands for. Who signs in to the console by OpenID Connect has another there. */
async function subjectsOf(storage: Storage, given: string): Promise<readonly string[]> {
  const made = ["cli_", openIdPrefix, consolePrefix, commandPrefix];
  if (made.some((prefix) => given.startsWith(prefix))) return [given];
  const isEmail = given.includes("@");
  const [user] = isEmail ? await storage.all(userByEmail, { email: storedEmail(given) }) : [];
  // Some providers use an e-mail address as `sub`, most of them in lower case.
  const subs = new Set(isEmail ? [given, given.toLowerCase()] : [given]);
  const ids = [...subs].flatMap((sub) => [sub, `${openIdPrefix}${sub}`]);
  return user === undefined ? ids : [user.id, ...ids];
}
