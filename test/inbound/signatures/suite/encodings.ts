import { nodeCrypto } from "../../../../src/base/crypto.ts";

import {
  type Attempt,
  flipped,
  joined,
  plain,
  type Row,
  type Signer,
  today,
  utf8,
} from "./signer.ts";

export function changedSignatureRows(by: Signer): readonly Row[] {
  const { mac, encode, value, isExact } = by;
  const right = mac(plain);
  const text = encode(right);
  const half = text.length / 2;
  const sent = (encoded: string): Attempt => ({ header: value(encoded) });
  const malformed = "malformed-signature";
  // Where the size varies, a shorter or longer signature may be well-formed.
  const resized = isExact ? malformed : "rejected";
  // A changed frame (DER) may be malformed or wrong; both are rejections.
  const wrong = isExact ? "wrong-signature" : "rejected";
  return [
    ["one bit of the first byte flipped", wrong, sent(encode(flipped(right, 0)))],
    ["one bit of a middle byte flipped", wrong, sent(encode(flipped(right, 10)))],
    ["one bit of the last byte flipped", wrong, sent(encode(flipped(right, right.length - 1)))],
    ["bytes reversed", wrong, sent(encode(Buffer.from(right).reverse()))],
    ["all zero", wrong, sent(encode(Buffer.alloc(right.length)))],
    ["empty", malformed, sent("")],
    ["last character removed", malformed, sent(text.slice(0, -1))],
    ["first character removed", malformed, sent(text.slice(1))],
    ["one character added", malformed, sent(`${text}a`)],
    ["one byte removed", resized, sent(encode(right.subarray(0, -1)))],
    ["one byte added", resized, sent(encode(Buffer.concat([right, Buffer.alloc(1)])))],
    ["written twice", resized, sent(text + text)],
    ["zz after it", malformed, sent(`${text}zz`)],
    ["junk after it", malformed, sent(`${text}!junk`)],
    ["a control character after it", malformed, sent(`${text}\u0001`)],
    ["a no-break space after it", malformed, sent(`${text}\u00a0`)],
    ["a space in the middle", malformed, sent(`${text.slice(0, half)} ${text.slice(half)}`)],
    ["a tab in the middle", malformed, sent(`${text.slice(0, half)}\t${text.slice(half)}`)],
    ["in quotes", malformed, sent(`"${text}"`)],
    ["non-ASCII last character", malformed, sent(`${text.slice(0, -1)}\u00e9`)],
    ["non-ASCII, the right number of characters", malformed, sent("\u00e9".repeat(text.length))],
    ["non-ASCII, the right number of UTF-8 bytes", malformed, sent("\u00e9".repeat(half))],
    ["100 kB of ASCII", malformed, sent("a".repeat(100_000))],
    ["100 kB of non-ASCII", malformed, sent("\u00e9".repeat(100_000))],
  ];
}

export function hexRows(by: Signer): readonly Row[] {
  const { body, mac } = by.signedLike(/[a-f]$/i);
  const text = mac.toString("hex");
  const { encoding } = by.scheme;
  const accepted = (isAccepted: boolean) => (isAccepted ? "current" : "malformed-signature");
  const mixed = text.slice(0, -1) + text.slice(-1).toUpperCase();
  const oneOther =
    encoding === "hex-upper" ? mixed.toUpperCase().slice(0, -1) + text.slice(-1) : mixed;
  const sent = (encoded: string): Attempt => ({ body, header: by.value(encoded) });
  const malformed = "malformed-signature";
  return [
    ["lower case", accepted(encoding !== "hex-upper"), sent(text)],
    ["upper case", accepted(encoding !== "hex"), sent(text.toUpperCase())],
    ["one digit of the other case", accepted(encoding === "hex-any-case"), sent(oneOther)],
    ["an odd number of digits", malformed, sent(`${text}0`)],
    ["zz as the last two digits", malformed, sent(`${text.slice(0, -2)}zz`)],
    ["zz as the first two digits", malformed, sent(`zz${text.slice(2)}`)],
    ["0x before it", malformed, sent(`0x${text}`)],
    ["bytes separated by colons", malformed, sent(text.replaceAll(/..(?!$)/g, "$&:"))],
    ["base64", malformed, sent(mac.toString("base64"))],
    ["base64url", malformed, sent(mac.toString("base64url"))],
  ];
}

export function base64Rows(by: Signer): readonly Row[] {
  const { body, mac } = by.signedLike(/[+].*[/]|[/].*[+]/);
  const text = mac.toString("base64");
  const isPadded = text.endsWith("=");
  const sent = (encoded: string): Attempt => ({ body, header: by.value(encoded) });
  const malformed = "malformed-signature";
  return [
    ["standard alphabet, padded", "current", sent(text)],
    ["URL alphabet, padded", malformed, sent(text.replaceAll("+", "-").replaceAll("/", "_"))],
    ["URL alphabet, unpadded", malformed, sent(mac.toString("base64url"))],
    ["one character of the URL alphabet", malformed, sent(text.replace("+", "-"))],
    ...(isPadded ? [["unpadded", malformed, sent(text.replace(/=+$/, ""))] as const] : []),
    ["one padding character too many", malformed, sent(`${text}=`)],
    ["padding at the start", malformed, sent(`=${text}`)],
    ["junk after the padding", malformed, sent(`${text}AAAA`)],
    ...(isPadded
      ? [["non-canonical last character", malformed, sent(notCanonical(text))] as const]
      : []),
    ["hex", malformed, sent(mac.toString("hex"))],
    ["base64 of the hex", malformed, sent(Buffer.from(mac.toString("hex")).toString("base64"))],
  ];
}

export function otherKindRows(by: Signer): readonly Row[] {
  const { scheme } = by;
  if (scheme.kind !== "hmac") return [];
  const { algorithm } = scheme;
  const { createHash, createHmac } = nodeCrypto();
  const other = algorithm === "sha1" ? "sha256" : "sha1";
  const size = by.mac(plain).length;
  const otherMac = by.mac(plain, { algorithm: other });
  const resized = Buffer.alloc(size);
  otherMac.copy(resized);
  const digest = (...parts: readonly Uint8Array[]): Buffer =>
    createHash(algorithm)
      .update(joined(...parts))
      .digest();
  const sent = (mac: Buffer): Attempt => ({ header: by.value(by.encode(mac)) });
  const timeless = createHmac(algorithm, today).update(plain).digest();
  const ofBody = scheme.signs === "{body}" || by.compacts;
  const rows: readonly Row[] = [
    ["the other algorithm", "malformed-signature", sent(otherMac)],
    ["the other algorithm, truncated or padded to size", "wrong-signature", sent(resized)],
    ["a plain digest of the body", "wrong-signature", sent(digest(plain))],
    ["a plain digest of secret and body", "wrong-signature", sent(digest(utf8(today), plain))],
    ["an empty secret", "wrong-signature", sent(createHmac(algorithm, "").update(plain).digest())],
  ];
  if (ofBody) return rows;
  return [...rows, ["a MAC of the body alone", "wrong-signature", sent(timeless)]];
}

export function prefixRows(by: Signer): readonly Row[] {
  const { listed, scheme } = by;
  const { prefix = "" } = scheme;
  if (listed) return [];
  const text = by.encoded(plain);
  const malformed = "malformed-signature";
  if (prefix === "") {
    return [
      ["a prefix that the scheme does not have", malformed, { header: `sha256=${text}` }],
      ["v1=, as in other schemes", malformed, { header: `v1=${text}` }],
    ];
  }
  return [
    ["missing", malformed, { header: text }],
    ["for another algorithm", malformed, { header: `md5=${text}` }],
    ["doubled", malformed, { header: prefix + prefix + text }],
    ["in upper case", malformed, { header: prefix.toUpperCase() + text }],
    ["a space after it", malformed, { header: `${prefix} ${text}` }],
    [
      "a space within it",
      malformed,
      { header: `${prefix.slice(0, -1)} ${prefix.slice(-1)}${text}` },
    ],
    ["a no-break space before it", malformed, { header: `\u00a0${prefix}${text}` }],
    ["after the signature", malformed, { header: text + prefix }],
    ["without a signature", malformed, { header: prefix }],
  ];
}

/** Base64 for URLs (RFC 4648 section 5), without padding. */
export function base64urlRows(by: Signer): readonly Row[] {
  const { body, mac } = by.signedLike(/[-].*[_]|[_].*[-]/);
  const text = mac.toString("base64url");
  const sent = (encoded: string): Attempt => ({ body, header: by.value(encoded) });
  const malformed = "malformed-signature";
  return [
    ["URL alphabet, unpadded", "current", sent(text)],
    ["standard alphabet, padded", malformed, sent(mac.toString("base64"))],
    ["one character of the standard alphabet", malformed, sent(text.replace("-", "+"))],
    ["padded", malformed, sent(`${text}=`)],
    ["hex", malformed, sent(mac.toString("hex"))],
  ];
}

/** Base64 that decodes to the same bytes but does not encode back to itself: its unused bits are set. */
function notCanonical(text: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const unpadded = text.replace(/=+$/, "");
  const last = alphabet.indexOf(unpadded.slice(-1));
  const altered = `${unpadded.slice(0, -1)}${alphabet.charAt(last + 1)}${text.slice(unpadded.length)}`;
  return altered;
}
