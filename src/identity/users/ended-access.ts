import type { Clock } from "../../base/clock.ts";
import type { Session } from "../../base/context.ts";
import { sha256 } from "../../base/crypto.ts";
import { AppError } from "../../base/errors.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";

import { erasuresSince } from "./erasures.sql.ts";
import { requireNotRevoked, revocationsSince } from "./revocations.sql.ts";

/** What was issued before its subject was erased or revoked, or was revoked itself. In memory, so that a check needs no query. */
export interface EndedAccess {
  /** Why a session is refused; null if it is not. */
  why(session: Session): Promise<"erased" | "revoked" | null>;
  /** Reads what this process has just stored. Others notice it within `refreshMs`. */
  refresh(): Promise<void>;
}

/** How long another process may accept what this one has ended, and the reverse. */
const refreshMs = 5_000;
/** Rows become visible later than their time: transactions take a while, and clocks of instances differ. */
const overlapMs = 60_000;
/** How often all is read again, which forgets what has expired. */
const wholeMs = 3_600_000;
/** No token of Skyhook lives longer. */
export const longestTokenMs = 366 * 86_400_000;

const never = Number.NEGATIVE_INFINITY;

export function endedAccess(storage: Storage, clock: Clock): EndedAccess {
  /** Until when what was issued is refused, by the hash of a subject or token. */
  let known: Map<string, number> | null = null;
  let [wholeAtMs, triedAtMs, readAtMs] = [never, never, never];
  let refreshes = 0;

  async function read(): Promise<ReadonlyMap<string, number>> {
    const [now, before] = [clock.now(), refreshes];
    const isWhole = known === null || Math.abs(now - wholeAtMs) >= wholeMs;
    const since = new Date(isWhole ? 0 : Math.min(now, readAtMs) - overlapMs);
    triedAtMs = now;
    const [erased, revoked] = await Promise.all([
      storage.all(erasuresSince, { since: isWhole ? new Date(now - longestTokenMs) : since }),
      storage.all(revocationsSince, { since }),
    ]);
    // What was stored since this read began may be missing in it.
    const replaces = isWhole && before === refreshes;
    const into: Map<string, number> = replaces || known === null ? new Map() : known;
    for (const { id, createdAt } of revoked) into.set(id, createdAt.getTime());
    for (const { id } of erased) into.set(id, Number.POSITIVE_INFINITY);
    readAtMs = now;
    if (replaces) wholeAtMs = now;
    known = into;
    return into;
  }

  /** While the database cannot be read, what is known. A clock that was set back does not matter. */
  function current(): ReadonlyMap<string, number> | Promise<ReadonlyMap<string, number>> {
    if (known === null) return read();
    const last = known;
    return Math.abs(clock.now() - triedAtMs) < refreshMs ? last : read().catch(() => last);
  }

  return {
    async why({ actor, token, issuedAt }) {
      const untilMs = await current();
      if (untilMs.size === 0) return null;
      const issuedMs = issuedAt?.getTime() ?? 0;
      const ofSubject = untilMs.get(sha256(actor.id)) ?? never;
      if (ofSubject === Number.POSITIVE_INFINITY) return "erased";
      const isRevoked = issuedMs <= ofSubject || (token !== undefined && untilMs.has(token));
      return isRevoked ? "revoked" : null;
    },
    async refresh() {
      refreshes += 1;
      await read();
    },
  };
}

/** The error for a caller whose access was ended after the token was checked. */
export const endedCaller = new AppError(
  "invalid-token",
  "The access token is not valid. Get a new one.",
);

/** The last write of a transaction that grants access. Throws `endedCaller` if the caller's own was revoked, on whatever instance. */
export function notRevoked({ actor, token, issuedAt }: Session): Write<unknown> {
  const ids = [sha256(actor.id), ...(token === undefined ? [] : [token])];
  return write(requireNotRevoked, { ids, since: issuedAt ?? new Date(0) }, endedCaller);
}
