import { idOf } from "../providers/payload.ts";
import type { Normalised, Provider } from "../providers/provider.ts";
import type { Verified } from "../signatures/signature.ts";

/** What makes a delivery the same as another; see `StoredEvent`. */
export interface DeliveryIdentity {
  /**
   * The idempotency keys it can be stored under, preferred one first. An unsigned id may be taken by
   * another body: anyone who captured one can send it under any id. The body's own key cannot.
   */
  readonly keys: readonly [string, ...string[]];
  /** Identifies the delivery where its id is unsigned. */
  readonly bodyHash: Uint8Array | null;
}

/** The identity of a verified delivery: by its id; without one, by the SHA-256 of the signed bytes. */
export function deliveryIdentity(
  { id, deliveryIdIsSigned }: Pick<Provider, "id" | "deliveryIdIsSigned">,
  normalised: Pick<Normalised, "deliveryId"> | null,
  { signedBytes }: Pick<Verified, "signedBytes">,
): DeliveryIdentity {
  const deliveryId = usableId(normalised?.deliveryId ?? null);
  const keyById = deliveryId === null ? null : `${id}:${deliveryId}`;
  // Equal bytes have equal ids then: no hash is needed.
  if (keyById !== null && deliveryIdIsSigned) return { keys: [keyById], bodyHash: null };
  const hash = new Bun.CryptoHasher("sha256").update(signedBytes).digest();
  const keyByBody = `${id}:${hashPrefix}${hash.toString("hex")}`;
  return {
    keys: keyById === null ? [keyByBody] : [keyById, keyByBody],
    bodyHash: deliveryIdIsSigned ? null : hash.subarray(0, 16),
  };
}

const hashPrefix = "sha256:";

/** Null for an id in the form of a hash: it would be the key of a body that has no id. */
function usableId(text: string | null): string | null {
  const id = idOf(text);
  return id?.startsWith(hashPrefix) === true ? null : id;
}
