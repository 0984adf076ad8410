import type { Actor } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";

import { expireIdempotency, idempotencyByKey, insertIdempotency } from "./idempotency.sql.ts";
import type { IdempotencyRecord } from "./idempotency.ts";

/** How long a key is kept. */
const keptMs = 24 * 3_600_000;

/** What can be repeated with an idempotency key. */
const operations = ["booking", "destination", "user"] as const;

/** A request that may have an idempotency key. */
export interface KeyedRequest {
  readonly actor: Actor;
  /** Each operation has its own keys. */
  readonly operation: (typeof operations)[number];
  /** Null: the request is carried out each time. */
  readonly key: string | null;
  /** The request in its normal form. */
  readonly input: unknown;
  /**
   * Keys for the hash of `input`, so that the database alone does not suffice to guess the input. The first key is
   * used for new records, and all are tried for existing ones.
   */
  readonly hashKeys: () => readonly [Uint8Array, ...Uint8Array[]];
  readonly now: Date;
}

/** A concurrent request with the same key committed first. `once` then returns what that request made. */
const keyTaken = new AppError(
  "idempotency-in-flight",
  "A request with the same idempotency key is in progress. Try again.",
  { retryAfterSeconds: 1 },
);

/** The result of a request: newly made, or by an earlier request with the same key (`replayed`). */
export interface Creation<Made> {
  readonly made: Made;
  readonly replayed: boolean;
}

/**
 * Calls `make` once per key. For a retry, returns what the first request with the key made. Without a key, always calls
 * `make`. Throws `idempotency-key-reused` when the key was used with a different request.
 */
export async function once<Made>(
  storage: Storage,
  request: KeyedRequest,
  make: () => Promise<Made>,
  find: (id: string) => Promise<Made>,
): Promise<Creation<Made>> {
  const replay = async (id: string) => {
    const made = await find(id);
    await storage.settled();
    return { made, replayed: true };
  };
  const earlier = await earlierResult(storage, request);
  if (earlier !== null) return replay(earlier);
  try {
    return { made: await make(), replayed: false };
  } catch (error) {
    // A concurrent equal request may have won: then the key, the last seat or the e-mail address is taken.
    const first = await earlierResult(storage, request);
    if (first !== null) return replay(first);
    throw error;
  }
}

/** The id of what an earlier request with the same key made; null if this is the first request. */
async function earlierResult(storage: Storage, request: KeyedRequest): Promise<string | null> {
  if (request.key === null) return null;
  const [record] = await storage.all(idempotencyByKey, recordIdOf(request, request.key));
  if (record === undefined || record.expiresAt <= request.now) return null;
  const { requestHash } = record;
  if (
    !request.hashKeys().some((key) => crypto.timingSafeEqual(requestHash, hashOf(request, key)))
  ) {
    const detail = "The idempotency key was already used with a different request. Use a new key.";
    throw new AppError("idempotency-key-reused", detail);
  }
  return record.resourceId;
}

/**
 * The statements that reserve the key, if there is one. Put them last in the transaction: if an equal request committed
 * first, they fail with `keyTaken` and the transaction is rolled back.
 */
export function reserveKey(request: KeyedRequest, resourceId: string): Write<never>[] {
  const { key, now } = request;
  if (key === null) return [];
  const recordId = recordIdOf(request, key);
  const record: IdempotencyRecord = {
    ...recordId,
    requestHash: hashOf(request, request.hashKeys()[0]),
    resourceId,
    createdAt: now,
    expiresAt: new Date(now.getTime() + keptMs),
  };
  return [
    write(expireIdempotency, { ...recordId, now }),
    write(insertIdempotency, record, keyTaken),
  ];
}

/** The write that records a code as used until a time, on all instances. Throws `usedBefore` if it was used before. */
export function useOnce(
  scope: "console-code" | "oidc-sign-in",
  key: string,
  [now, expiresAt]: readonly [Date, Date],
  usedBefore: AppError,
): Write<never> {
  const unused = { requestHash: new Uint8Array(), resourceId: "" };
  const record = { scope, key, ...unused, createdAt: now, expiresAt };
  return write(insertIdempotency, record, usedBefore);
}

function recordIdOf({ actor, operation }: KeyedRequest, key: string) {
  return { scope: scopeOf(operation, actor.id), key };
}

function scopeOf(operation: KeyedRequest["operation"], actorId: string): string {
  return `${operation}:${actorId}`;
}

/** The scopes of all records of a user. */
export function scopesOf(actorId: string): readonly string[] {
  return operations.map((operation) => scopeOf(operation, actorId));
}

function hashOf({ input }: KeyedRequest, key: Uint8Array): Uint8Array {
  return new Bun.CryptoHasher("sha256", key).update(JSON.stringify(input)).digest();
}
