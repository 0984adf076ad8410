import type { Clock } from "../../base/clock.ts";
import { type Context, requireOperator } from "../../base/context.ts";
import type { Storage } from "../../db/storage.ts";
import { lastEventOf } from "../../event/events.sql.ts";
import { reconciliationOf } from "../model/reconciliation.sql.ts";
import { firstReconciliation, type ReconciliationStatus } from "../model/reconciliation.ts";
import { activeHours, secretUsesOf } from "../model/webhook-counts.sql.ts";
import type { Provider } from "../providers/provider.ts";
import type { Registered, Registry } from "../providers/registry.ts";

import type { ProviderStatus, ProviderStatuses } from "./provider-status.schema.ts";
import { rotation } from "./rotation.ts";
import { maxActiveHours, silence } from "./silence.ts";

export interface ProviderStatusService {
  /** Operators only. Every registered provider, in the order of the catalogue. */
  list(ctx: Context): Promise<ProviderStatuses>;
}

/** `isReconciled`: whether the provider's log is compared. */
export function providerStatuses(
  storage: Storage,
  registry: Registry,
  isReconciled: (provider: Provider["id"]) => boolean,
  clock: Clock,
): ProviderStatusService {
  return {
    async list(ctx) {
      requireOperator(ctx);
      const statuses = Array.from(registry, async (one) => ({
        ...(await providerStatus(storage, one, clock.now())),
        reconciliation: isReconciled(one.provider.id)
          ? await reconciliationStatus(storage, one.provider.id)
          : null,
      }));
      return { data: await Promise.all(statuses) };
    },
  };
}

export async function reconciliationStatus(
  storage: Storage,
  provider: Provider["id"],
): Promise<ReconciliationStatus> {
  const [row] = await storage.all(reconciliationOf, { provider });
  const { coveredUntil, checkedAt, succeededAt, nextRunAt, pausedUntil, error, recovered } =
    row ?? firstReconciliation(provider);
  return { coveredUntil, checkedAt, succeededAt, nextRunAt, pausedUntil, error, recovered };
}

/** The status of one provider. All queries use indexes. */
export async function providerStatus(
  storage: Storage,
  registered: Registered,
  nowMs: number,
): Promise<Omit<ProviderStatus, "reconciliation">> {
  const { id, displayName } = registered.provider;
  const [[last], uses, hours] = await Promise.all([
    storage.all(lastEventOf, { provider: id }),
    storage.all(secretUsesOf, { provider: id }),
    storage.all(activeHours, { provider: id, limit: maxActiveHours }),
  ]);
  const verifiedAt = [last?.createdAt, ...uses.map(({ lastMatchedAt }) => lastMatchedAt)];
  const times = verifiedAt.filter((time) => time !== undefined).map((time) => time.getTime());
  const lastVerifiedMs = times.length === 0 ? null : Math.max(...times);
  return {
    provider: id,
    displayName,
    hasSecret: registered.secrets !== null,
    lastEventAt: last?.createdAt ?? null,
    ...silence(hours, lastVerifiedMs, nowMs),
    secrets: rotation(registered, uses, nowMs),
  };
}

/** The providers that are silent. */
export async function silentAmong(
  storage: Storage,
  registry: Registry,
  nowMs: number,
): Promise<readonly Provider["id"][]> {
  const statuses = await Promise.all(
    Array.from(registry, (registered) => providerStatus(storage, registered, nowMs)),
  );
  return statuses.filter(({ isSilent }) => isSilent).map(({ provider }) => provider);
}
