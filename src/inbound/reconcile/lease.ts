import type { Cancel, Clock } from "../../base/clock.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import { claimLog, releaseLog, renewLease } from "../model/reconciliation.sql.ts";

/** The right to read a provider's log. One process has it at a time. */
export interface Lease {
  readonly holder: string;
  /** Aborts if another process takes it over, because this one did not renew it in time. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

const leaseMs = 30_000;

/** Leases the log, and renews the lease until it is released. Null while another process has it. */
export async function leaseLog(
  storage: Storage,
  clock: Clock,
  provider: string,
): Promise<Lease | null> {
  const holder = crypto.randomUUID();
  const until = (now: number) => new Date(now + leaseMs);
  const now = clock.now();
  const [claimed] = await storage.atomically(
    write(claimLog, {
      provider,
      leasedBy: holder,
      leasedUntil: until(now),
      now: new Date(now),
      latest: until(now),
    }),
  );
  if (claimed.changes === 0) return null;
  const lost = new AbortController();
  let cancel: Cancel = () => {};
  let isReleased = false;

  function renewLater(): void {
    cancel = clock.after(leaseMs / 3, () => void renew());
  }

  async function renew(): Promise<void> {
    try {
      const lease = { provider, leasedBy: holder, leasedUntil: until(clock.now()) };
      const [renewed] = await storage.atomically(write(renewLease, lease));
      if (renewed.changes === 0) lost.abort();
    } catch {
      // The next renewal may succeed. Otherwise the lease ends.
    }
    if (!isReleased && !lost.signal.aborted) renewLater();
  }

  renewLater();
  return {
    holder,
    lost: lost.signal,
    async release() {
      isReleased = true;
      cancel();
      await storage.atomically(write(releaseLog, { provider, leasedBy: holder })).catch(() => {
        // It ends by itself.
      });
    },
  };
}
