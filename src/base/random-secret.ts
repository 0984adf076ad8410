const secretBytes = 32;

/** 43 random characters. */
export function makeSecret(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(secretBytes))).toString("base64url");
}

export const isSecret = (text: string): boolean => /^[\w-]{43}$/.test(text);

/** What is stored of a secret that opens something. It is random, so a plain hash cannot be searched. */
export function hashOf(secret: string): string {
  return new Bun.CryptoHasher("sha256").update(secret).digest("hex");
}
