import type { SignatureScheme } from "../signatures/signature.ts";

/** A form of signature that the strict verifier does not accept. */
export type Oddity =
  "hex-for-base64" | "base64-for-hex" | "upper-case-hex" | "missing-prefix" | "malformed-signature";

/** A signature as a lenient parser reads it from a header. Verification is strict. */
export interface ClaimedMac {
  readonly mac: Buffer;
  /** Derived from the length of the MAC. */
  readonly algorithm: "sha1" | "sha256" | "sha512";
  /** The signed text before the body: the time, if the scheme has one. */
  readonly signedPrefix: string;
  /** Null if the form is right. */
  readonly oddity: Oddity | null;
}

const algorithmByBytes: Readonly<Record<number, ClaimedMac["algorithm"]>> = {
  20: "sha1",
  32: "sha256",
  64: "sha512",
};

/** All signatures in a header whose length is that of a known MAC. */
export function claimedMacs(scheme: SignatureScheme, header: string): readonly ClaimedMac[] {
  if (scheme.signed !== "timestamp-dot-raw") return readMac(scheme, header.trim(), "");
  const items = header.split(",").map((item) => item.trim());
  const time = items.find((item) => item.startsWith("t="))?.slice(2) ?? "";
  return items
    .filter((item) => item.startsWith("v1="))
    .flatMap((item) => readMac(scheme, item.slice(3), `${time}.`));
}

/** The time in a signature header, in seconds since the epoch, or null if it has none. */
export function claimedSeconds(header: string): number | null {
  const digits = /(?:^|,)\s*t=(\d{1,12})\s*(?:,|$)/.exec(header)?.[1];
  return digits === undefined ? null : Number(digits);
}

function readMac(
  scheme: SignatureScheme,
  text: string,
  signedPrefix: string,
): readonly ClaimedMac[] {
  const prefix = scheme.prefix ?? "";
  const encoded = text.startsWith(prefix)
    ? text.slice(prefix.length)
    : text.replace(/^sha-?(?:1|256|512)[=:]/i, "");
  const decoded = decode(scheme, encoded);
  if (decoded === null) return [];
  const algorithm = algorithmByBytes[decoded.mac.length];
  if (algorithm === undefined) return [];
  const oddity = decoded.oddity ?? (text.startsWith(prefix) ? null : "missing-prefix");
  return [{ mac: decoded.mac, algorithm, signedPrefix, oddity }];
}

/** Distinguishes hex from base64 by length: no MAC has the same length in both. */
function decode(
  { encoding }: SignatureScheme,
  text: string,
): Pick<ClaimedMac, "mac" | "oddity"> | null {
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})$/i.test(text)) {
    const isUpper = text !== text.toLowerCase();
    const oddity = encoding === "base64" ? "hex-for-base64" : isUpper ? "upper-case-hex" : null;
    return { mac: Buffer.from(text, "hex"), oddity };
  }
  if (!/^[\w+/-]+={0,2}$/.test(text)) return null;
  const mac = Buffer.from(text, "base64");
  const isCanonical = mac.toString("base64") === text;
  const oddity = encoding === "hex" ? "base64-for-hex" : isCanonical ? null : "malformed-signature";
  return { mac, oddity };
}
