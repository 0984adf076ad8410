import { defineTable } from "../db/table.ts";

/** When one of a provider's secrets matched deliveries. */
export interface SecretUse {
  readonly provider: string;
  /** Its mark, by `secretMark`. */
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

const markBytes = 2;

/**
 * Tells the few secrets of one provider apart, through rotations. Sixteen bits are enough for that, and
 * far too few for whoever reads the database to test guesses against.
 */
export function secretMark(secret: string): string {
  const digest = new Bun.CryptoHasher("sha256", secret).update("skyhook secret mark").digest();
  return digest.subarray(0, markBytes).toString("hex");
}
