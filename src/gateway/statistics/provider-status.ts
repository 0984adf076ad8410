import type { Clock } from "../../base/clock.ts";
import { type Context, requireOperator } from "../../base/context.ts";
import { lastEventOf } from "../events/events.sql.ts";
import { activeHours, secretUsesOf } from "./statistics.sql.ts";
import type { Storage } from "../../db/storage.ts";

import type { Provider } from "../providers/provider.ts";
import type { Registered, Registry } from "../providers/registry.ts";
import { rotation, type Rotation } from "./rotation.ts";
import { maxActiveHours, silence, type Silence } from "./silence.ts";

/** The status of a registered provider. */
export interface ProviderStatus extends Pick<Provider, "displayName">, Silence {
  readonly provider: Provider["id"];
  readonly hasSecret: boolean;
  /** Null if there is none, or retention deleted it. */
  readonly lastEventAt: Date | null;
  readonly secrets: Rotation;
}

export interface ProviderStatuses {
  readonly data: readonly ProviderStatus[];
}

export interface Providers {
  /** Operators only. Every registered provider, in the order of the catalogue. */
  list(ctx: Context): Promise<ProviderStatuses>;
}

export function providerStatuses(storage: Storage, registry: Registry, clock: Clock): Providers {
  return {
    async list(ctx) {
      requireOperator(ctx);
      const statuses = [...registry].map((one) => providerStatus(storage, one, clock.now()));
      return { data: await Promise.all(statuses) };
    },
  };
}

/** The status of one provider. All queries use indexes. */
export async function providerStatus(
  storage: Storage,
  registered: Registered,
  nowMs: number,
): Promise<ProviderStatus> {
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
