import { idOf } from "./payload.ts";
import type { Normalised, Provider } from "./provider.ts";
import type { Verified } from "./signature.ts";

/** What makes a delivery the same as another; see `StoredEvent`. */
export interface DeliveryKey {
  readonly idempotencyKey: string;
  readonly bodyHash: Uint8Array | null;
}

/**
 * The key of a verified delivery: by its id, or where that is missing or is no provider's, by the
 * SHA-256 of what is signed.
 */
export function deliveryKey(
  { id, deliveryIdIsSigned }: Pick<Provider, "id" | "deliveryIdIsSigned">,
  normalised: Pick<Normalised, "deliveryId"> | null,
  { signedBytes }: Pick<Verified, "signedBytes">,
): DeliveryKey {
  const deliveryId = idOf(normalised?.deliveryId ?? null);
  // A signed id says it all: the bytes need no hash.
  if (deliveryId !== null && deliveryIdIsSigned) {
    return { idempotencyKey: `${id}:${deliveryId}`, bodyHash: null };
  }
  const hash = new Bun.CryptoHasher("sha256").update(signedBytes).digest();
  return {
    idempotencyKey: `${id}:${deliveryId ?? `sha256:${hash.toString("hex")}`}`,
    bodyHash: deliveryIdIsSigned ? null : hash.subarray(0, 16),
  };
}
