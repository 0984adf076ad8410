import { idOf } from "../providers/payload.ts";
import type { Normalised, Provider } from "../providers/provider.ts";
import type { Verified } from "../signatures/verification.ts";

/** What two deliveries of the same event have in common; see `StoredEvent`. */
export interface DeliveryIdentity {
  /**
   * The idempotency keys that it can be stored under, in order of preference. The key of an unsigned id may
   * be in use by another body, because a captured body can be sent with any id. The key of the body cannot.
   */
  readonly keys: readonly [string, ...string[]];
  /** Identifies the delivery if its id is unsigned. */
  readonly bodyHash: Uint8Array | null;
}

/** Identifies a verified delivery by its id, or by the SHA-256 of the signed bytes if it has none. */
export function deliveryIdentity(
  { id, deliveryIdIsSigned }: Pick<Provider, "id" | "deliveryIdIsSigned">,
  normalised: Pick<Normalised, "deliveryId"> | null,
  { signedBytes }: Pick<Verified, "signedBytes">,
): DeliveryIdentity {
  const deliveryId = usableId(normalised?.deliveryId ?? null);
  const keyById = deliveryId === null ? null : `${id}:${deliveryId}`;
  // The id is part of the signed bytes, so equal bytes have equal keys and no hash is needed.
  if (keyById !== null && deliveryIdIsSigned) return { keys: [keyById], bodyHash: null };
  const hash = new Bun.CryptoHasher("sha256").update(signedBytes).digest();
  const keyByBody = `${id}:${hashPrefix}${hash.toString("hex")}`;
  return {
    keys: keyById === null ? [keyByBody] : [keyById, keyByBody],
    bodyHash: deliveryIdIsSigned ? null : hash.subarray(0, 16),
  };
}

const hashPrefix = "sha256:";

/** Null for an id in the form of a hash, which could equal the key of a body without an id. */
function usableId(text: string | null): string | null {
  const id = idOf(text);
  return id?.startsWith(hashPrefix) === true ? null : id;
}
