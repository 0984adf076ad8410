import { errorMessage } from "../../base/errors.ts";
import type { KeyRing } from "../../base/sealing.ts";
import type { Storage } from "../../db/storage.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Destination, StoredDestination } from "../destination.ts";
import type { Event } from "../event.ts";
import type { Message } from "../notification.ts";

import { openSecrets } from "./destination-secrets.ts";
import { allDestinations } from "./destinations.sql.ts";
import { compileFilter, type Filter } from "./filter.ts";
import { type Send, sender, type SendParts } from "./send.ts";

/** A destination, ready to receive. */
export interface Target {
  readonly destination: Destination;
  /** Null: all events. */
  readonly filter: Filter | null;
  readonly send: Send;
}

/** Whose deliveries are to be stored for a message, and under which order key. */
export interface Recipient {
  readonly destination: Destination;
  readonly orderKey: string | null;
}

/** The destinations of the database, kept in memory because every event needs them. */
export interface Targets {
  list(): readonly Target[];
  /**
   * The destinations that receive a message. `ownerId`: the owner of the booking that the event is about; null
   * for other events. `alert`: only those that receive alerts.
   */
  recipientsOf(
    event: Event,
    message: Message,
    options: { readonly ownerId: string | null; readonly alert: boolean },
  ): readonly Recipient[];
  /** Remembers the health of a destination, which the database has already. */
  setHealth(id: Destination["id"], health: Pick<Destination, "failures" | "openUntil">): void;
  find(id: Destination["id"]): Target | undefined;
  /** Reads the destinations again. Call after a change, and when another process may have made one. */
  refresh(): Promise<void>;
}

interface Parts extends SendParts {
  readonly storage: Storage;
  readonly log: Log;
  /** The keys of sealed secrets. Read when the first destination is. */
  readonly keys: () => KeyRing;
}

export function targets(parts: Parts): Targets {
  const { storage, log } = parts;
  let known: readonly Target[] = [];
  let stamp = "";

  return {
    list: () => known,
    recipientsOf(event, { severity }, { ownerId, alert }) {
      return known.flatMap(({ destination, filter }): readonly Recipient[] => {
        if (destination.state === "disabled" || (alert && !destination.alerts)) return [];
        if (destination.ownerId !== null && destination.ownerId !== ownerId) return [];
        const result = filter?.match({ ...event, severity }) ?? { matches: true };
        if ("error" in result) {
          // Better a notification too many than one too few.
          const fields = { destination: destination.name, event: event.id, error: result.error };
          log.warn(fields, "filter failed; delivering");
        } else if (!result.matches) return [];
        return [{ destination, orderKey: orderKeyOf(destination, event) }];
      });
    },
    find: (id) => known.find(({ destination }) => destination.id === id),
    setHealth(id, health) {
      known = known.map((target) =>
        target.destination.id === id
          ? { ...target, destination: { ...target.destination, ...health } }
          : target,
      );
    },
    async refresh() {
      const stored = await storage.all(allDestinations, {});
      const newStamp = JSON.stringify(
        stored.map((each) => ({ ...each, failures: 0, openUntil: null })),
      );
      if (newStamp === stamp) {
        known = known.map((target, index) => ({
          ...target,
          destination: stored[index] ?? target.destination,
        }));
        return;
      }
      known = stored.map((destination) => targetOf(parts, destination));
      stamp = newStamp;
    },
  };
}

function targetOf(parts: Parts, stored: StoredDestination): Target {
  const { sealed: _, ...destination } = stored;
  return { destination, filter: filterOf(parts, stored), send: sendTo(parts, stored) };
}

/** A filter that this version cannot compile delivers everything. */
function filterOf({ log }: Parts, { name, filter }: StoredDestination): Filter | null {
  if (filter === null) return null;
  try {
    return compileFilter(filter);
  } catch (error) {
    log.error({ destination: name, err: error }, "filter is invalid; delivering all events");
    return null;
  }
}

/** A destination whose secrets cannot be opened fails every attempt, and says why. */
function sendTo(parts: Parts, stored: StoredDestination): Send {
  try {
    return sender(parts, stored, openSecrets(parts.keys(), stored));
  } catch (error) {
    const reason = errorMessage(error);
    parts.log.error({ destination: stored.name, err: error }, "destination cannot be used");
    return async () => ({
      delivered: false,
      responseStatus: null,
      error: reason,
      retryAfterMs: null,
    });
  }
}

const maxOrderKeyLength = 200;

/** The value by which deliveries keep their order; null if the destination has no order or the event no value. */
function orderKeyOf({ orderBy }: Destination, event: Event): string | null {
  if (orderBy === null) return null;
  const [, field = "", name] = orderBy.split(".");
  const { provider, type, subject, actor, data } = event;
  const fields: Event["data"] = { provider, type, subject, actor };
  const value =
    field === "data" ? Object.entries(data).find(([key]) => key === name)?.[1] : fields[field];
  if (value === null || value === undefined) return null;
  return `${provider}:${String(value)}`.slice(0, maxOrderKeyLength);
}

/** What `orderBy` may be. */
export const orderByPattern =
  /^event\.(?:provider|type|subject|actor|data\.[A-Za-z_][A-Za-z0-9_]{0,60})$/;
