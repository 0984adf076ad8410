import { exactText, lookup, type PlaceSource } from "../../base/place.ts";
import type { HmacScheme } from "../signatures/scheme.schema.ts";
import { signaturePlaces } from "../signatures/scheme.ts";

/** A form of signature that the strict verifier does not accept. */
export type Oddity =
  "hex-for-base64" | "base64-for-hex" | "upper-case-hex" | "missing-prefix" | "malformed-signature";

/** A signature as a lenient parser reads it. Verification is strict. */
export interface ClaimedMac {
  readonly mac: Buffer;
  /** Derived from the length of the MAC. */
  readonly algorithm: HmacScheme["algorithm"];
  /** The time as sent, or an empty text. */
  readonly timestamp: string;
  /** Null if the form is right. */
  readonly oddity: Oddity | null;
}

const algorithmByBytes: Readonly<Record<number, ClaimedMac["algorithm"]>> = {
  20: "sha1",
  32: "sha256",
  48: "sha384",
  64: "sha512",
};

/** All signatures in a request whose length is that of a known MAC. */
export function claimedMacs(scheme: HmacScheme, source: PlaceSource): readonly ClaimedMac[] {
  const sent = signaturePlaces(scheme).map((place) => exactText(lookup(place)(source)));
  return sent.flatMap((value) => (value === null ? [] : macsIn(scheme, source, value)));
}

/** The signed time as sent, or an empty text. */
export function claimedTime(
  { timestamp, items }: Pick<HmacScheme, "timestamp" | "items">,
  source: PlaceSource,
  signature: string,
): string {
  const { from, item } = timestamp ?? {};
  if (from !== undefined) return exactText(lookup(from)(source)) ?? "";
  if (item === undefined || items === undefined) return "";
  const list = signature.split(items.separator).map((each) => each.trim());
  return list.find((each) => each.startsWith(item))?.slice(item.length) ?? "";
}

function macsIn(scheme: HmacScheme, source: PlaceSource, value: string): readonly ClaimedMac[] {
  const { items } = scheme;
  const timestamp = claimedTime(scheme, source, value);
  const texts = items === undefined ? [value.trim()] : value.split(items.separator);
  return texts.flatMap((text) => readMac(scheme, text.trim(), timestamp));
}

function readMac(scheme: HmacScheme, text: string, timestamp: string): readonly ClaimedMac[] {
  const { items } = scheme;
  // Other items are a time or another version.
  if (items !== undefined && !text.startsWith(items.signature)) return [];
  const prefix = items?.signature ?? scheme.prefix ?? "";
  const encoded = text.startsWith(prefix)
    ? text.slice(prefix.length)
    : text.replace(/^(?:sha-?(?:1|256|384|512)|v\d)[=:]/i, "");
  const decoded = decode(scheme, encoded);
  if (decoded === null) return [];
  const algorithm = algorithmByBytes[decoded.mac.length];
  if (algorithm === undefined) return [];
  const oddity = decoded.oddity ?? (text.startsWith(prefix) ? null : "missing-prefix");
  return [{ mac: decoded.mac, algorithm, timestamp, oddity }];
}

/** Distinguishes hex from base64 by length: no MAC has the same length in both. */
function decode({ encoding }: HmacScheme, text: string): Pick<ClaimedMac, "mac" | "oddity"> | null {
  const isHex = encoding.startsWith("hex");
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$/i.test(text)) {
    return {
      mac: Buffer.from(text, "hex"),
      oddity: isHex ? caseOf(encoding, text) : "hex-for-base64",
    };
  }
  if (!/^[\w+/-]+={0,2}$/.test(text)) return null;
  const mac = Buffer.from(text, "base64");
  if (isHex) return { mac, oddity: "base64-for-hex" };
  const isCanonical = mac.toString(encoding === "base64url" ? encoding : "base64") === text;
  return { mac, oddity: isCanonical ? null : "malformed-signature" };
}

function caseOf(encoding: HmacScheme["encoding"], text: string): Oddity | null {
  if (encoding === "hex-any-case") return null;
  if (encoding === "hex-upper") return text === text.toUpperCase() ? null : "malformed-signature";
  return text === text.toLowerCase() ? null : "upper-case-hex";
}
