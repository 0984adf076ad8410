import type { Session, Verify } from "../../base/context.ts";
import type { Erasures } from "../users/erasures.ts";

import { invalidToken, TokenRefusal } from "./refusal.ts";

/** Verifies a token as `verify` does, and refuses those of erased users, which are valid until they expire. */
export function unlessErased<Verified extends Session>(
  verify: Verify<Verified>,
  erasures: Pick<Erasures, "has">,
): Verify<Verified> {
  return async (token) => {
    const session = await verify(token);
    if (!(await erasures.has(session.actor.id))) return session;
    throw invalidToken(new TokenRefusal("subject", "its user was erased"));
  };
}
