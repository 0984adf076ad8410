import { setNewest } from "../../base/bounded-map.ts";
import type { Clock } from "../../base/clock.ts";
import type { Context } from "../../base/context.ts";
import type { Storage } from "../../db/storage.ts";
import type { Log } from "../../telemetry/log.ts";

import type { AuditAction } from "./audit-entry.ts";
import type { Audit } from "./audit.ts";

/** Who read the exact bytes of a request. */
type RevealAction = Extract<AuditAction, `${string}.revealed`>;

/** Records who reads the exact bytes of requests. */
export interface Reveals {
  /**
   * Records that the caller reads a body; again only after an hour, because the console reloads what it shows. Never
   * throws: operators need bodies most when the database is full. Then the log has the entry.
   */
  record(ctx: Context, action: RevealAction, subject: string): Promise<void>;
}

const repeatMs = 3_600_000;
/** Readers and subjects that are remembered; beyond that, the oldest are recorded again. */
const maxRemembered = 5_000;

interface Parts {
  readonly storage: Pick<Storage, "atomically">;
  readonly audit: Pick<Audit, "entry">;
  readonly clock: Clock;
  readonly log: Log;
}

export function reveals({ storage, audit, clock, log }: Parts): Reveals {
  const recordedAtMs = new Map<string, number>();

  return {
    async record(ctx, action, subject) {
      const name = JSON.stringify([ctx.actor.id, subject]);
      const age = clock.now() - (recordedAtMs.get(name) ?? -Infinity);
      // A negative age: the clock was set back.
      if (age >= 0 && age < repeatMs) return;
      // Before it is stored: the console reads timeline and body at the same time.
      setNewest(recordedAtMs, name, clock.now(), maxRemembered);
      try {
        await storage.atomically(audit.entry(ctx, action, subject));
      } catch (error) {
        recordedAtMs.delete(name);
        const { id: actor } = ctx.actor;
        log.error({ err: error, actor, action, subject }, "failed to store an audit entry");
      }
    },
  };
}
