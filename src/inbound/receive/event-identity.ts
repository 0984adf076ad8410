import { membersOf } from "../../base/json-text.ts";
import { idOf } from "../../base/payload.ts";
import { pointerKeys } from "../../base/place.ts";
import type { Interpreted, Provider } from "../providers/provider.ts";
import { compactJson } from "../signatures/compact-json.ts";
import type { Verified } from "../signatures/signed-request.ts";

/** What two requests of the same event have in common; see `StoredEvent`. */
export interface EventIdentity {
  /**
   * The idempotency keys that it can be stored under, in order of preference. The key of an unsigned id may
   * be in use by another body, because a captured body can be sent with any id, and the key of the body by
   * another event with an equal body. The last one cannot.
   */
  readonly keys: readonly [string, ...string[]];
  /** Identifies the request unless its key does. */
  readonly bodyHash: Uint8Array | null;
}

/**
 * Identifies a verified request by its signed id. Without one, by all that its signature covers, the time
 * included, and by the name of its event if a header names it. What the provider's retry changes does not count. Of an
 * item, its JSON takes the place of the body.
 */
export function eventIdentity(
  provider: IdentifyingProvider,
  interpreted: Identified | null,
  { signedBytes, signedContext }: Pick<Verified, "signedBytes" | "signedContext">,
): EventIdentity {
  const { id, deliveryIdIsSigned, retryChangesTime = false } = provider;
  const deliveryId = usableId(interpreted?.deliveryId ?? null);
  const keyById = deliveryId === null ? null : `${id}:${deliveryId}`;
  // The id is part of the signed bytes, so equal bytes have equal keys and no hash is needed.
  if (keyById !== null && deliveryIdIsSigned) return { keys: [keyById], bodyHash: null };
  const bytes =
    interpreted === null ? signedBytes : identifying(provider, interpreted, signedBytes);
  const body = new Bun.CryptoHasher("sha256").update(bytes);
  const keyOf = (hash: Buffer) => `${id}:${hashPrefix}${hash.toString("hex")}`;
  // An item has its id in it, so equal items have equal ids whenever they were signed.
  const isTimeless = retryChangesTime || (deliveryId !== null && interpreted?.item !== null);
  const others = othersIn(interpreted, isTimeless ? "" : signedContext);
  const whole = others === null ? null : body.copy().update(others).digest();
  const hash = body.digest();
  const byHash = [keyOf(hash), ...(whole === null ? [] : [keyOf(whole)])] as const;
  return {
    keys: keyById === null ? byHash : [keyById, ...byHash],
    // Without an unsigned id, and with nothing but the body to compare, the key is enough.
    bodyHash: deliveryIdIsSigned && whole === null ? null : (whole ?? hash).subarray(0, 16),
  };
}

/**
 * What distinguishes requests with equal bodies; null if nothing does. Also null for an unreadable body, so that all
 * of its retries are one event.
 */
function othersIn(interpreted: Identified | null, signedContext: string): string | null {
  if (interpreted === null) return null;
  const { unsignedName = null } = interpreted;
  if (unsignedName === null && signedContext === "") return null;
  return JSON.stringify([signedContext, unsignedName]);
}

type IdentifyingProvider = Pick<
  Provider,
  "id" | "deliveryIdIsSigned" | "retryChanges" | "retryChangesTime"
>;
type Identified = Pick<Interpreted, "deliveryId" | "unsignedName" | "text" | "context" | "item">;

/** The bytes of an event that are the same on a retry: without white space, which a signature may not cover. */
function identifying(
  { retryChanges = [] }: IdentifyingProvider,
  { deliveryId, text, context, item }: Identified,
  signedBytes: Uint8Array,
): Uint8Array {
  if (item === null && retryChanges.length === 0) return signedBytes;
  const own = retryChanges.map(pointerKeys).reduce(without, text);
  return compactJson(Buffer.from(usableId(deliveryId) === null ? own + context : own));
}

/** The JSON without the member at a path. */
function without(json: string, [key = "", ...rest]: readonly string[]): string {
  const members = membersOf(json);
  if (!members.some(({ name }) => name === key)) return json;
  const isList = json.trimStart().startsWith("[");
  const kept = members.flatMap(({ name, text }) => {
    const inner = name === key ? (rest.length > 0 ? without(text, rest) : null) : text;
    if (isList) return inner ?? "null";
    return inner === null ? [] : `${JSON.stringify(name)}:${inner}`;
  });
  return isList ? `[${kept.join(",")}]` : `{${kept.join(",")}}`;
}

const hashPrefix = "sha256:";

/** Whether an idempotency key was made from a delivery id. */
export function isKeyOfId(provider: Provider["id"], key: string): boolean {
  return !key.startsWith(`${provider}:${hashPrefix}`);
}

/** Null for an id in the form of a hash, which could equal the key of a body without an id. */
function usableId(text: string | null): string | null {
  const id = idOf(text);
  return id?.startsWith(hashPrefix) === true ? null : id;
}
