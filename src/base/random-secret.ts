/** 43 random characters. A plain hash of them, which is what is stored, cannot be searched. */
export function makeSecret(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
}

export const isSecret = (text: string): boolean => /^[\w-]{43}$/.test(text);
