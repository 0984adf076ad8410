import type { Clock } from "../../base/clock.ts";
import type { Session, Verify } from "../../base/context.ts";

/** Tokens remembered at once; the longest unused is forgotten first. */
const maxSessions = 5_000;

/**
 * Checks each token once and remembers the good ones until they expire: a signature costs 15 µs and
 * more, looking it up less than one. Tokens cannot be revoked, so nothing can change in between.
 */
export function rememberedSessions(verify: Verify, clock: Clock): Verify {
  // In order of last use: a Map keeps the order in which keys were set.
  const sessions = new Map<string, Session>();
  return async (token) => {
    const known = sessions.get(token);
    if (known !== undefined) sessions.delete(token);
    const isGood = known !== undefined && known.expiresAt.getTime() > clock.now();
    const session = isGood ? known : await verify(token);
    sessions.set(token, session);
    const [oldest] = sessions.keys();
    if (sessions.size > maxSessions && oldest !== undefined) sessions.delete(oldest);
    return session;
  };
}
