import { backslash, isWhiteSpace, quote } from "../../base/json-bytes.ts";

/**
 * Removes white space outside strings (RFC 8259 section 2) and keeps every token: numbers, escapes, key
 * order and duplicate keys stay as sent, where parsing and stringifying would change them.
 * Works on any bytes. Input that is not JSON only loses white space.
 */
export function compactJson(bytes: Uint8Array): Uint8Array {
  const end = bytes.length;
  const compact = new Uint8Array(end);
  let read = 0;
  let written = 0;
  while (read < end) {
    const byte = bytes[read++] ?? 0;
    if (isWhiteSpace(byte)) continue;
    compact[written++] = byte;
    let inString = byte === quote;
    while (inString && read < end) {
      const inner = bytes[read++] ?? 0;
      compact[written++] = inner;
      if (inner === backslash && read < end) compact[written++] = bytes[read++] ?? 0;
      inString = inner !== quote;
    }
  }
  return compact.subarray(0, written);
}
