import { errorMessage } from "../../base/errors.ts";
import { lazy } from "../../base/lazy.ts";
import type { KeyRing } from "../../base/sealing.ts";
import type { Storage } from "../../db/storage.ts";
import type { Event, EventContent } from "../../event/event.ts";
import type { NewNotification } from "../../event/new-notification.ts";
import type { Log } from "../../telemetry/log.ts";
import { compileFilter, type Filter, filterFor } from "../filters/filter.ts";
import { openSecrets } from "../model/destination-secrets.ts";
import {
  type Destination,
  type Health,
  isSameHealth,
  nameInLogs,
  type NumberedDestination,
  type StoredDestination,
} from "../model/destination.ts";
import { destinationsByIds, destinationVersions } from "../model/destinations.sql.ts";

import { orderKeyOf } from "./order-key.ts";
import { failedResult, type Sender, sender, type SendParts } from "./send.ts";

/** A destination, ready to receive. */
export interface CachedDestination extends Sender {
  readonly destination: NumberedDestination;
  /** For events of a provider. Compiled on first use, because most destinations of users never need theirs. Null: all. */
  readonly filter: (provider: Event["provider"]) => Filter | null;
}

/** Whose deliveries are to be stored for a notification, and under which order key. */
export interface Match {
  readonly destination: NumberedDestination;
  readonly orderKey: string | null;
}

/** The destinations of the database, kept in memory because every event needs them. */
export interface DestinationCache {
  list(): readonly CachedDestination[];
  /**
   * The destinations that receive a notification. `ownerId`: the owner of the booking that the event is about; null
   * for other events. `alert`: only those that receive alerts. `whole`: those that the stored request of the event is
   * sent to already; undefined if it has none.
   */
  matching(
    event: EventContent,
    notification: NewNotification,
    options: {
      readonly ownerId: string | null;
      readonly alert: boolean;
      readonly whole?: Set<Destination["id"]> | undefined;
    },
  ): readonly Match[];
  /** Remembers the health of a destination, which the database has already. */
  setHealth(id: Destination["id"], health: Health): void;
  find(id: Destination["id"]): CachedDestination | undefined;
  /** Ends all connections. */
  close(): void;
  /**
   * Reads a destination again after a change; without an id all of them, because another process may have changed
   * one. Returns those that differ, removed ones included. The others keep their compiled filters.
   */
  refresh(id?: Destination["id"]): Promise<ReadonlySet<Destination["id"]>>;
}

/** Whether a destination is at the service of a provider. */
export type IsOwnService = (
  destination: Pick<Destination, "format" | "url">,
  provider: Event["provider"],
) => boolean;

interface Parts extends SendParts {
  readonly storage: Storage;
  readonly log: Log;
  readonly isOwnService?: IsOwnService;
  /** The keys of sealed secrets. Read when the first destination is. */
  readonly keys: () => KeyRing;
}

export function destinationCache(parts: Parts): DestinationCache {
  const { storage, log } = parts;
  const known = new Map<Destination["id"], CachedDestination>();
  /** Thousands of users may have destinations, but an event concerns one of them. Null: the operators. */
  const idsByOwner = new Map<string | null, Set<Destination["id"]>>();
  let refreshing: Promise<unknown> = Promise.resolve();

  function put(cached: CachedDestination): void {
    const { id, ownerId } = cached.destination;
    known.get(id)?.close();
    known.set(id, cached);
    idsByOwner.set(ownerId, (idsByOwner.get(ownerId) ?? new Set()).add(id));
  }

  function remove(id: Destination["id"]): void {
    const ownerId = known.get(id)?.destination.ownerId ?? null;
    known.get(id)?.close();
    known.delete(id);
    idsByOwner.get(ownerId)?.delete(id);
    if (idsByOwner.get(ownerId)?.size === 0) idsByOwner.delete(ownerId);
  }

  function setHealth(id: Destination["id"], { failures, openUntil, failingSince }: Health): void {
    const cached = known.get(id);
    if (cached === undefined) return;
    const health = { failures, openUntil, failingSince };
    known.set(id, { ...cached, destination: { ...cached.destination, ...health } });
  }

  async function readAgain(ids: readonly Destination["id"][]): Promise<void> {
    if (ids.length === 0) return;
    const stored = await storage.all(destinationsByIds, { ids });
    const byId = new Map(stored.map((each) => [each.id, each]));
    // In the order of `ids`, which a query by ids does not keep.
    for (const id of ids) {
      const found = byId.get(id);
      if (found === undefined) remove(id);
      else put(cachedOf(parts, found));
    }
  }

  /** Reads only the columns that show whether a destination has changed: a tenth of the cost of reading all columns. */
  async function readChanged(): Promise<ReadonlySet<Destination["id"]>> {
    const versions = await storage.all(destinationVersions, {});
    const ids = new Set(versions.map(({ id }) => id));
    const removed = [...known.keys()].filter((id) => !ids.has(id));
    const changed = versions.filter(({ id, updatedAt }) => !isAt(known.get(id), updatedAt));
    const inOtherHealth = versions.filter((version) => {
      const cached = known.get(version.id);
      return cached !== undefined && !isSameHealth(cached.destination, version);
    });
    for (const id of removed) remove(id);
    for (const version of inOtherHealth) setHealth(version.id, version);
    await readAgain(changed.map(({ id }) => id));
    return new Set([...removed, ...[...changed, ...inOtherHealth].map(({ id }) => id)]);
  }

  async function readOne(id: Destination["id"]): Promise<ReadonlySet<Destination["id"]>> {
    await readAgain([id]);
    return new Set([id]);
  }

  return {
    list: () => [...known.values()],
    matching(event, { severity }, { ownerId, alert, whole }) {
      const owners = ownerId === null ? [null] : [null, ownerId];
      const ids = owners.flatMap((owner) => [...(idsByOwner.get(owner) ?? [])]);
      return ids.flatMap((id): readonly Match[] => {
        const cached = known.get(id);
        if (cached === undefined) return [];
        const { destination } = cached;
        if (destination.state === "disabled" || (alert && !destination.alerts)) return [];
        if (destination.format === "original" && whole?.has(id) !== false) return [];
        const filter = cached.filter(event.provider);
        const result = filter?.match({ ...event, severity }) ?? { matches: true };
        if ("error" in result) {
          // Better a notification too many than one too few.
          const fields = {
            destination: nameInLogs(destination),
            event: event.idempotencyKey,
            error: result.error,
          };
          log.warn(fields, "filter failed; delivering");
        } else if (!result.matches) return [];
        if (destination.format === "original") whole?.add(id);
        return [{ destination, orderKey: orderKeyOf(destination, event) }];
      });
    },
    find: (id) => known.get(id),
    close() {
      for (const each of known.values()) each.close();
    },
    setHealth,
    refresh(id) {
      // One after the other: of two that overlap, the one that read earlier could be applied last.
      const refreshed = refreshing.then(() => (id === undefined ? readChanged() : readOne(id)));
      refreshing = refreshed.catch(() => {});
      return refreshed;
    },
  };
}

function isAt(cached: CachedDestination | undefined, updatedAt: Date): boolean {
  return cached?.destination.updatedAt.getTime() === updatedAt.getTime();
}

function cachedOf(
  parts: Parts,
  stored: StoredDestination & NumberedDestination,
): CachedDestination {
  const { sealed: _, ...destination } = stored;
  const own = lazy(() => filterOf(parts, stored));
  const isOwn = (provider: Event["provider"]) => parts.isOwnService?.(stored, provider) === true;
  return {
    destination,
    filter: (provider) => filterFor(own(), provider, isOwn(provider)),
    ...senderTo(parts, stored),
  };
}

/** A filter that this version cannot compile delivers everything. */
function filterOf({ log }: Parts, stored: StoredDestination): Filter | null {
  if (stored.filter === null) return null;
  try {
    return compileFilter(stored.filter);
  } catch (error) {
    const fields = { destination: nameInLogs(stored), err: error };
    log.error(fields, "filter is invalid; delivering all events");
    return null;
  }
}

/** A destination whose secrets cannot be opened fails every attempt, and says why. */
function senderTo(parts: Parts, stored: StoredDestination): Sender {
  try {
    return sender(parts, stored, openSecrets(parts.keys(), stored));
  } catch (error) {
    const reason = errorMessage(error);
    const fields = { destination: nameInLogs(stored), err: error };
    parts.log.error(fields, "destination cannot be used");
    return { send: async () => failedResult(reason, error), close: () => {} };
  }
}
