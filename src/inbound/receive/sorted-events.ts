import { AppError } from "../../base/errors.ts";
import { placeIn } from "../../base/ids.ts";
import { ownTurns } from "../../base/own-turn.ts";
import type { Storage } from "../../db/storage.ts";
import { firstsWithKeys } from "../../event/events.sql.ts";
import type { Provider } from "../providers/provider.ts";

import { firstAlike, type FirstEvent, firstOfPayload } from "./first-event.ts";
import { type Candidate, itemsPerTurn, type NewEvent } from "./new-event.ts";

/** The events of a request, by what is to be done with them. */
export interface SortedEvents {
  /** Stored by an earlier attempt. */
  readonly stored: readonly NewEvent[];
  readonly fresh: readonly NewEvent[];
  /** What the others duplicate: a stored event, or one of the same request, which has no id before it is stored. */
  readonly duplicates: readonly (FirstEvent | NewEvent)[];
}

const ownTurn = ownTurns();

/** Separates the events that are not stored yet, each under its first free key, from the others. Equal items are one. */
export async function sortEvents(
  storage: Storage,
  provider: Provider,
  candidates: readonly Candidate[],
): Promise<SortedEvents> {
  const keys = candidates.flatMap((candidate) => candidate.keys);
  const found = await storage.all(firstsWithKeys, { keys });
  const taken = new Map(found.map((event) => [event.idempotencyKey, event]));
  const fresh = new Map<string, NewEvent>();
  const byHash = new Map<string, NewEvent>();
  const stored: NewEvent[] = [];
  const duplicates: (FirstEvent | NewEvent)[] = [];
  let read = 0;

  async function alike(
    event: NewEvent,
    hash: string | null,
  ): Promise<FirstEvent | NewEvent | undefined> {
    const { idempotencyKey } = event;
    if (hash === null) {
      const same = taken.get(idempotencyKey);
      return fresh.get(idempotencyKey) ?? (same?.bodyHash === null ? same : undefined);
    }
    const here = byHash.get(hash);
    if (here !== undefined) return here;
    read += 1;
    if (read % itemsPerTurn === 0) await ownTurn();
    return firstAlike(storage, event);
  }

  async function place({ event, keys: own }: Candidate): Promise<void> {
    const hash = event.bodyHash === null ? null : Buffer.from(event.bodyHash).toString("base64");
    for (const idempotencyKey of own) {
      const candidate = { ...event, idempotencyKey };
      const isTaken = taken.has(idempotencyKey) || fresh.has(idempotencyKey);
      const same =
        (await alike(candidate, hash)) ??
        (isTaken && candidates.length === 1
          ? await firstOfPayload(storage, provider, candidate)
          : undefined);
      if (same !== undefined && isStored(event, same)) return void stored.push(candidate);
      if (same !== undefined) return void duplicates.push(same);
      if (isTaken) continue;
      fresh.set(idempotencyKey, candidate);
      if (hash !== null) byHash.set(hash, candidate);
      return;
    }
    // Retention deleted the first event between two statements. The provider's retry is stored.
    throw new AppError("unavailable", "Try again", { retryAfterSeconds: 1 });
  }

  for (const candidate of candidates) await place(candidate);
  return { stored, fresh: [...fresh.values()], duplicates };
}

/** Whether an earlier attempt has stored it. */
function isStored({ place }: NewEvent, same: FirstEvent | NewEvent): boolean {
  return !("place" in same) && placeIn("evt", same.id)?.tail === place.tail;
}
