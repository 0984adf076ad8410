const maxHeaders = 20;
const maxValueCharacters = 2_000;
/** A field name (RFC 9110 section 5.1). */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
/** Those of the connection, those that say what the body is, and those that Skyhook signs with. */
const reserved =
  /^(?:host|connection|content-(?:type|length|encoding)|transfer-encoding|expect|upgrade|te|trailer|webhook-.*|skyhook-.*)$/;

/**
 * The headers that a text of lines such as `Authorization: Bearer …` gives, by lower-case name. Throws an `Error` that
 * says what to write and repeats no value.
 */
export function headersIn(text: string | null): Readonly<Record<string, string>> {
  const lines = (text ?? "").split(/\r?\n/).filter((line) => line.trim() !== "");
  if (lines.length > maxHeaders) throw new Error(`Write at most ${maxHeaders} headers`);
  const headers = new Map<string, string>();
  for (const [index, line] of lines.entries()) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon)).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (!token.test(name)) {
      throw new Error(`Line ${index + 1}: write a header as Name: value`);
    }
    if (reserved.test(name)) throw new Error(`${name} is set by Skyhook. Leave it out.`);
    if (headers.has(name)) throw new Error(`${name} must not be repeated`);
    if (!/^[\x20-\x7e]+$/.test(value) || value.length > maxValueCharacters) {
      throw new Error(
        `${name} needs a value of 1 to ${maxValueCharacters} printable ASCII characters`,
      );
    }
    headers.set(name, value);
  }
  return Object.fromEntries(headers);
}

/** The names of headers as they may be shown; null without any. */
export function namesOf(headers: Readonly<Record<string, string>>): string | null {
  return Object.keys(headers).join(", ") || null;
}

export function linesOf(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
}
