import { defineTable } from "../db/table.ts";

/** When requests matched one of a provider's secrets. */
export interface SecretUse {
  readonly provider: string;
  /** The secret's fingerprint. */
  readonly secret: string;
  readonly firstMatchedAt: Date;
  readonly lastMatchedAt: Date;
}

export const secretUsesTable = defineTable<SecretUse>("secret_uses", {
  provider: "text",
  secret: "text",
  firstMatchedAt: "instant",
  lastMatchedAt: "instant",
});

const fingerprintBytes = 2;

/**
 * Distinguishes the few secrets of one provider across rotations. Sixteen bits suffice for that, and are
 * too few to confirm a guessed secret against a copy of the database.
 */
export function secretFingerprint(secret: string): string {
  // The text must not change: fingerprints made with it are in databases.
  const digest = new Bun.CryptoHasher("sha256", secret).update("skyhook secret mark").digest();
  return digest.subarray(0, fingerprintBytes).toString("hex");
}
