const quote = 0x22;
const backslash = 0x5c;

/**
 * The same JSON without white space outside strings (RFC 8259 section 2), token for token: numbers,
 * escapes, key order and duplicate keys stay as sent, which parsing and printing again would change.
 * Works on bytes and takes anything: what is not JSON merely loses white space.
 */
export function compactJson(bytes: Uint8Array): Uint8Array {
  const compact = new Uint8Array(bytes.length);
  let length = 0;
  let inString = false;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0;
    if (inString) {
      compact[length++] = byte;
      if (byte === backslash && index + 1 < bytes.length) {
        compact[length++] = bytes[++index] ?? 0;
      } else if (byte === quote) {
        inString = false;
      }
    } else if (!isWhiteSpace(byte)) {
      compact[length++] = byte;
      inString = byte === quote;
    }
  }
  return compact.subarray(0, length);
}

/** Space, tab, line feed and carriage return: JSON's white space. */
function isWhiteSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}
