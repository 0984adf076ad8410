import { systemClock } from "../../base/clock.ts";
import { commandPrefix, type Context } from "../../base/context.ts";
import { makeId } from "../../base/ids.ts";
import { readConfig } from "../../config/config.ts";
import { audit } from "../../identity/audit/audit.ts";
import { tokens } from "../../identity/auth/token.ts";
import { revocationLimiter, writeLimiter } from "../../identity/limiter.ts";
import { type Revocations, revocations } from "../../identity/sessions/revocations.ts";
import { endedAccess } from "../../identity/users/ended-access.ts";
import { externalVerifier } from "../../wiring/identity.ts";

import { useDatabase } from "./database.ts";
import { operatorName } from "./program.ts";
import { serverSigning } from "./signing-key.ts";

/** Opens the database for `use`, in the name of the operating system's user. */
export function withRevocations<Result>(
  env: NodeJS.ProcessEnv,
  use: (service: Revocations, ctx: Context) => Promise<Result>,
): Promise<Result> {
  const config = readConfig(env);
  return useDatabase(config, (storage) => {
    const service = revocations({
      storage,
      audit: audit(storage, systemClock, makeId, writeLimiter(systemClock)),
      ended: endedAccess(storage, systemClock),
      limiter: revocationLimiter(systemClock),
      clock: systemClock,
      verifiers: [
        (token) =>
          (
            externalVerifier(config, systemClock) ??
            tokens(serverSigning(config), systemClock).verify
          )(token),
      ],
    });
    const ctx: Context = {
      actor: { id: `${commandPrefix}${operatorName(env)}`, roles: ["admin"] },
      expiresAt: new Date(systemClock.now() + 3_600_000),
      requestId: "",
    };
    return use(service, ctx);
  });
}
