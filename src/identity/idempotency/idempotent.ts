import type { Actor } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import { expireIdempotency, idempotencyByKey, insertIdempotency } from "./idempotency.sql.ts";
import { type Step, step } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";

import type { IdempotencyRecord } from "./idempotency.ts";

/** How long the first answer to a key is kept. */
const keptMs = 24 * 3_600_000;

/** A request that carries a key. */
export interface KeyedRequest {
  readonly actor: Actor;
  /** Keys of different operations never meet. */
  readonly operation: string;
  readonly key: string;
  /** What was asked for, in its one form. */
  readonly input: unknown;
  /**
   * Key the hash of `input`, so that what is in it cannot be guessed from the database alone: the first is
   * used, and with any of them it is known again.
   */
  readonly hashKeys: readonly [Uint8Array, ...Uint8Array[]];
  readonly now: Date;
}

/** Another request with the key was a moment earlier: what it made is found. */
const keyTaken = new AppError("idempotency-in-flight", "The key is in use; try again", {
  retryAfterSeconds: 1,
});

/** What was made, now or by an earlier request with the same key. */
export interface Creation<Made> {
  readonly made: Made;
  readonly replayed: boolean;
}

/**
 * Makes something once for each key: a request whose key was used by an equal one finds what that one
 * made. `request` null: there is no key, and it is made in any case. Throws `idempotency-key-reused`
 * when the key came with another request.
 */
export async function once<Made>(
  storage: Storage,
  request: KeyedRequest | null,
  make: () => Promise<Made>,
  find: (id: string) => Promise<Made>,
): Promise<Creation<Made>> {
  const replay = async (id: string) => {
    const made = await find(id);
    await storage.settled();
    return { made, replayed: true };
  };
  const earlier = request && (await madeBefore(storage, request));
  if (earlier !== null) return replay(earlier);
  try {
    return { made: await make(), replayed: false };
  } catch (error) {
    // Of equal requests at once, those behind may find the key taken, or no seat or address by now.
    const first = request && (await madeBefore(storage, request));
    if (first !== null) return replay(first);
    throw error;
  }
}

/** The id of what an earlier request with the same key made; null when this one is the first. */
async function madeBefore(storage: Storage, request: KeyedRequest): Promise<string | null> {
  const [record] = await storage.all(idempotencyByKey, placeOf(request));
  if (record === undefined || record.expiresAt <= request.now) return null;
  const { requestHash } = record;
  if (!request.hashKeys.some((key) => crypto.timingSafeEqual(requestHash, hashOf(request, key)))) {
    throw new AppError("idempotency-key-reused", "This key came with another request before");
  }
  return record.resourceId;
}

/**
 * The steps that reserve the key, to stand last in the unit of work: with `keyTaken` it is undone when
 * an equal request is a moment earlier.
 */
export function reserveKey(request: KeyedRequest, resourceId: string): Step<never>[] {
  const { now } = request;
  const record: IdempotencyRecord = {
    ...placeOf(request),
    requestHash: hashOf(request, request.hashKeys[0]),
    resourceId,
    createdAt: now,
    expiresAt: new Date(now.getTime() + keptMs),
  };
  return [
    step(expireIdempotency, { ...placeOf(request), now }),
    step(insertIdempotency, record, keyTaken),
  ];
}

function placeOf({ actor, operation, key }: KeyedRequest) {
  return { scope: `${operation}:${actor.id}`, key };
}

function hashOf({ input }: KeyedRequest, key: Uint8Array): Uint8Array {
  return new Bun.CryptoHasher("sha256", key).update(JSON.stringify(input)).digest();
}
