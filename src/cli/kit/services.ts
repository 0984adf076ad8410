import { systemClock } from "../../base/clock.ts";
import type { Context } from "../../base/context.ts";
import { makeId } from "../../base/ids.ts";
import { readConfig } from "../../config/config.ts";
import type { Storage } from "../../db/storage.ts";
import { audit } from "../../identity/audit/audit.ts";
import { revocationLimiter, writeLimiter } from "../../identity/limiter.ts";
import { type Revocations, revocations } from "../../identity/sessions/revocations.ts";
import { endedAccess } from "../../identity/users/ended-access.ts";

import { useDatabase } from "./database.ts";
import { commandContext } from "./program.ts";
import { serverVerifier } from "./signing-key.ts";

/** What services need that write to the database of a server. */
export const serviceParts = (storage: Storage) => ({
  storage,
  audit: audit(storage, systemClock, makeId, writeLimiter(systemClock)),
  ended: endedAccess(storage, systemClock),
  clock: systemClock,
  makeId,
});

/** Opens the database for `use`, in the name of the operating system's user. */
export function withRevocations<Result>(
  env: NodeJS.ProcessEnv,
  use: (service: Revocations, ctx: Context) => Promise<Result>,
): Promise<Result> {
  const config = readConfig(env);
  return useDatabase(config, (storage) => {
    const service = revocations({
      ...serviceParts(storage),
      limiter: revocationLimiter(systemClock),
      verifiers: [(token) => serverVerifier(config)(token)],
    });
    return use(service, commandContext(env));
  });
}
