import type { TextScheme } from "./scheme.schema.ts";

type Encoding = TextScheme["encoding"];

/** How many bytes a signature may have. */
export interface Size {
  readonly least: number;
  readonly most: number;
}

const hexPatterns = {
  hex: /^[0-9a-f]+$/,
  "hex-upper": /^[0-9A-F]+$/,
  "hex-any-case": /^[0-9A-Fa-f]+$/,
} as const;

/**
 * Decodes a canonical signature: hex of the declared case and whole bytes, padded base64 or unpadded base64url
 * that encodes back to itself (RFC 4648 sections 3.5, 4 and 5). Returns null for anything else, and for
 * another number of bytes.
 */
export function decode(encoding: Encoding, { least, most }: Size, text: string): Buffer | null {
  // Every encoding needs fewer than two characters and padding for each byte.
  if (text.length > most * 2 + 2) return null;
  if (encoding !== "base64" && encoding !== "base64url") {
    const isWhole = text.length >= least * 2 && text.length % 2 === 0;
    return isWhole && text.length <= most * 2 && hexPatterns[encoding].test(text)
      ? Buffer.from(text, "hex")
      : null;
  }
  const bytes = Buffer.from(text, encoding);
  const isRight = bytes.length >= least && bytes.length <= most;
  return isRight && bytes.toString(encoding) === text ? bytes : null;
}

export function encode(encoding: Encoding, bytes: Buffer): string {
  if (encoding === "base64" || encoding === "base64url") return bytes.toString(encoding);
  const hex = bytes.toString("hex");
  return encoding === "hex-upper" ? hex.toUpperCase() : hex;
}

/** Whether all signatures of a scheme have the same size. */
export function isFixedSize(scheme: TextScheme): boolean {
  const { least, most } = signatureSize(scheme);
  return least === most;
}

const hashBytes = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 } as const;

/** The size of a scheme's signatures. */
export function signatureSize(scheme: TextScheme): Size {
  switch (scheme.kind) {
    case "hmac":
      return exactly(hashBytes[scheme.algorithm]);
    case "ed25519":
      return exactly(64);
    case "ecdsa-p256":
      // DER (X.690): a sequence of two integers of 1 to 33 bytes.
      return scheme.format === "der" ? { least: 8, most: 72 } : exactly(64);
    case "rsa-pkcs1":
    case "rsa-pss":
      // As long as the modulus: 2048 to 8192 bits.
      return { least: 256, most: 1_024 };
  }
}

function exactly(bytes: number): Size {
  return { least: bytes, most: bytes };
}
