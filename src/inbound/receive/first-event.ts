import { sameBytes } from "../../base/crypto.ts";
import { positionIn } from "../../base/ids.ts";
import type { JsonObject } from "../../base/payload.ts";
import { oneOrMore, pointerKeys } from "../../base/place.ts";
import type { Storage } from "../../db/storage.ts";
import type { Event, StoredEvent } from "../../event/event.ts";
import {
  eventsByKeys,
  firstWithHash,
  firstWithKey,
  receiptAt,
  recoveredLike,
  storedLikeSince,
} from "../../event/events.sql.ts";
import { payloadOf } from "../providers/interpret.ts";
import type { Provider } from "../providers/provider.ts";
import { setAt } from "../providers/signed-sample.ts";
import { isTextScheme } from "../signatures/scheme.ts";

import { isKeyOfId } from "./event-identity.ts";

/** The stored event that a request duplicates. */
export type FirstEvent = Pick<Event, "id" | "idempotencyKey" | "type" | "status">;

/** The event with this body hash or, without one, with this key. */
export async function firstAlike(
  storage: Storage,
  {
    provider,
    idempotencyKey,
    bodyHash,
  }: Pick<StoredEvent, "provider" | "idempotencyKey" | "bodyHash">,
): Promise<FirstEvent | undefined> {
  const [same] = await (bodyHash === null
    ? storage.all(firstWithKey, { idempotencyKey })
    : storage.all(firstWithHash, { provider, bodyHash }));
  return same;
}

/** Maximum events to compare. More than two only if unsigned ids were forged. */
const maxCompared = 20;
/** How far the clocks of the provider and of this machine may differ. */
const clockSkewMs = 3_600_000;

/**
 * The event of a request that was signed in other bytes. Called only if the request's key is taken. A retry
 * with the same id and body may be signed again, with another time. Recovered requests are compared by their
 * payloads: a log may not keep the exact bytes. Usually the same payload has the id; if the id was forged, the
 * payload is under another key. A signed id is taken by an event with a hash if the signature covers it only now.
 */
export async function firstOfPayload(
  storage: Storage,
  provider: Provider,
  event: StoredEvent,
): Promise<Event | undefined> {
  const { idempotencyKey, type, subject, occurredAt } = event;
  const like = { provider: provider.id, type, subject, limit: maxCompared };
  const holders = await storage.all(eventsByKeys, { keys: [idempotencyKey] });
  if (isKeyOfId(provider.id, idempotencyKey)) {
    for (const holder of holders) {
      const [receipt] = await storage.all(receiptAt, { position: positionIn(holder.id) });
      if (holder.type === type && isRetry(provider, receipt?.body ?? null, event)) return holder;
    }
  }
  const others = event.recovered
    ? await storage.all(storedLikeSince, {
        ...like,
        since: new Date(occurredAt.getTime() - clockSkewMs),
      })
    : await storage.all(recoveredLike, like);
  for (const candidate of [...holders, ...others]) {
    if (!candidate.recovered && !event.recovered) continue;
    const [receipt] = await storage.all(receiptAt, { position: positionIn(candidate.id) });
    const isSame = receipt?.body
      ? hasSamePayload(provider, receipt.body, event)
      : // Retention deleted the body, from which these fields were read.
        candidate.type === type &&
        candidate.subject === subject &&
        candidate.occurredAt.getTime() === occurredAt.getTime();
    if (isSame) return candidate;
  }
  return undefined;
}

/** Whether a request with the same id has the same body, apart from the time of its signature. */
function isRetry(provider: Provider, body: Uint8Array | null, { body: own }: StoredEvent): boolean {
  if (body === null || own === null) return false;
  if (sameBytes(body, own)) return true;
  const { signature } = provider;
  const times = isTextScheme(signature) ? oneOrMore(signature.timestamp?.from) : [];
  const places = times.filter((place) => place.startsWith("/"));
  if (places.length === 0) return false;
  const [one, other] = [payloadOf(provider, body), payloadOf(provider, own)];
  for (const payload of [one, other])
    for (const place of payload === null ? [] : places)
      setAt(payload ?? {}, pointerKeys(place), null);
  return arePayloadsEqual(one, other);
}

function hasSamePayload(provider: Provider, body: Uint8Array, { body: own }: StoredEvent): boolean {
  return own !== null && arePayloadsEqual(payloadOf(provider, body), payloadOf(provider, own));
}

function arePayloadsEqual(one: JsonObject | null, other: JsonObject | null): boolean {
  try {
    return one !== null && Bun.deepEquals(one, other, true);
  } catch {
    // Too deep to compare.
    return false;
  }
}
