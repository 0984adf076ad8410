import { defineTable, type Stored } from "../../db/table.ts";

/** When requests matched one of a provider's secrets. */
export const secretUsesTable = defineTable(
  "secret_uses",
  {
    provider: "text: none",
    /** The secret's fingerprint. */
    secret: "text: none",
    firstMatchedAt: "instant",
    lastMatchedAt: "instant",
  },
  ["provider", "secret"],
);

export interface SecretUse extends Stored<typeof secretUsesTable> {}

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
