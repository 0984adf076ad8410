// The bytes of JSON's tokens (RFC 8259 section 2), for what reads JSON without parsing it.

export const quote = 0x22;
export const comma = 0x2c;
export const colon = 0x3a;
export const openBracket = 0x5b;
export const backslash = 0x5c;
export const closeBracket = 0x5d;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;

/** Space, tab, line feed and carriage return are JSON's white space. */
export function isWhiteSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}
