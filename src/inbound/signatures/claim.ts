import { exactText, type Lookup, lookup, type PlaceSource } from "../../base/place.ts";

import { decode, signatureSize, type Size } from "./encodings.ts";
import type { TextScheme } from "./scheme.schema.ts";
import { signaturePlaces } from "./scheme.ts";
import type { SignatureRejection } from "./signed-request.ts";
import { isTimely } from "./signed-time.ts";

/** What a request claims: its signatures and the time they were made. */
export interface Claim {
  readonly signatures: readonly Buffer[];
  /** As sent; empty for schemes without a time. */
  readonly timestamp: string;
  readonly isStale: boolean;
}
type Claimed = Claim | { readonly rejection: SignatureRejection };

/** Reads a claim for each place of the signature that was sent. Empty if none was. */
type ReadClaims = (source: PlaceSource, receivedAtMs: number) => readonly Claimed[];

/** Maximum signatures in one list. No real provider sends more. */
const maxSignatures = 8;

export function claimReader(scheme: TextScheme): ReadClaims {
  const finds = signaturePlaces(scheme).map(lookup);
  const read = scheme.items === undefined ? singleReader(scheme) : listReader(scheme, scheme.items);
  return (source, receivedAtMs) => {
    const claims: Claimed[] = [];
    for (const find of finds) {
      const value = find(source);
      if (value !== undefined) claims.push(read(exactText(value) ?? "", source, receivedAtMs));
    }
    return claims;
  };
}

type ReadClaim = (value: string, source: PlaceSource, receivedAtMs: number) => Claimed;

/** One signature, with or without a prefix. */
function singleReader(scheme: TextScheme): ReadClaim {
  const { encoding, prefix = "" } = scheme;
  const size = signatureSize(scheme);
  const readTime = timeReader(scheme);
  return (value, source, receivedAtMs) => {
    // `Headers` joins repeated headers with commas, and no valid signature contains a comma.
    if (value.includes(",")) return several;
    if (!value.startsWith(prefix)) return malformed;
    const signature = decode(encoding, size, value.slice(prefix.length));
    if (signature === null) return malformed;
    const time = readTime(null, source, receivedAtMs);
    return "rejection" in time ? time : { signatures: [signature], ...time };
  };
}

/** Whitespace around separators (RFC 9110 section 5.6.1). The lookbehinds keep matching linear over runs of spaces. */
const separators = {
  ",": /(?<![ \t])[ \t]*,[ \t]*/,
  ";": /(?<![ \t])[ \t]*;[ \t]*/,
  " ": " ",
} as const;

/** Several signatures, or signatures and a time: `t=…,v1=…,v1=…`. Skips other items, such as an older `v0`. */
function listReader(scheme: TextScheme, items: NonNullable<TextScheme["items"]>): ReadClaim {
  const { encoding } = scheme;
  const size = signatureSize(scheme);
  const readTime = timeReader(scheme);
  const separator = separators[items.separator];
  return (value, source, receivedAtMs) => {
    // `Headers` joins repeated headers with a comma and a space.
    if (items.separator !== "," && value.includes(", ")) return several;
    const list = value.split(separator);
    const time = readTime(list, source, receivedAtMs);
    if ("rejection" in time) return time;
    const signatures = signaturesIn(list, items.signature, encoding, size);
    return "rejection" in signatures ? signatures : { ...signatures, ...time };
  };
}

function signaturesIn(
  list: readonly string[],
  prefix: string,
  encoding: TextScheme["encoding"],
  size: Size,
): { readonly signatures: readonly Buffer[] } | { readonly rejection: SignatureRejection } {
  const texts = list.filter((item) => item.startsWith(prefix));
  if (texts.length === 0) return missing;
  if (texts.length > maxSignatures) return several;
  const signatures = texts
    .map((text) => decode(encoding, size, text.slice(prefix.length)))
    .filter((signature) => signature !== null);
  return signatures.length === 0 ? malformed : { signatures };
}

const missing = { rejection: "missing-signature" } as const;
const several = { rejection: "several-signatures" } as const;
const malformed = { rejection: "malformed-signature" } as const;
const timeless = { timestamp: "", isStale: false } as const;

type Time = Pick<Claim, "timestamp" | "isStale">;
type ReadTime = (
  items: readonly string[] | null,
  source: PlaceSource,
  receivedAtMs: number,
) => Time | { readonly rejection: SignatureRejection };

function timeReader({ timestamp }: TextScheme): ReadTime {
  if (timestamp === undefined) return () => timeless;
  const { item, from, unit = "seconds", toleranceSeconds } = timestamp;
  const check = (text: string, receivedAtMs: number) => {
    const signedAtMs = millisecondsOf(text, unit);
    if (signedAtMs === null) return malformed;
    return { timestamp: text, isStale: !isTimely(signedAtMs, receivedAtMs, toleranceSeconds) };
  };
  if (item !== undefined) {
    return (items, _, receivedAtMs) => {
      const [text, ...others] = (items ?? []).filter((each) => each.startsWith(item));
      if (text === undefined) return { rejection: "missing-timestamp" };
      return others.length > 0 ? malformed : check(text.slice(item.length), receivedAtMs);
    };
  }
  const find: Lookup = lookup(from ?? "");
  return (_, source, receivedAtMs) => {
    const value = find(source);
    if (value === undefined) return { rejection: "missing-timestamp" };
    return check(exactText(value) ?? "", receivedAtMs);
  };
}

const isoTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

/** The time in milliseconds since the epoch; null if it is not written as declared. */
export function millisecondsOf(
  text: string,
  unit: NonNullable<NonNullable<TextScheme["timestamp"]>["unit"]>,
): number | null {
  switch (unit) {
    case "seconds":
      return /^\d{1,12}$/.test(text) ? Number(text) * 1_000 : null;
    case "milliseconds":
      return /^\d{1,15}$/.test(text) ? Number(text) : null;
    case "iso8601": {
      const ms = isoTime.test(text) ? Date.parse(text) : Number.NaN;
      return Number.isNaN(ms) ? null : ms;
    }
  }
}
