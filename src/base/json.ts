// JSON (RFC 8259) whose numbers keep their digits: a double has 15 to 17 of them, and services count beyond.

declare global {
  interface JSON {
    rawJSON(text: string): unknown;
  }
}

const digits = Symbol("digits");

/** A number of which a double would lose digits. It has no keys, so it is no object to those who look for members. */
export class ExactNumber {
  readonly [digits]: string;

  constructor(text: string) {
    this[digits] = text;
  }

  toString(): string {
    return this[digits];
  }

  toJSON(): unknown {
    return JSON.rawJSON(this[digits]);
  }
}

/** A number of JSON. `Number` rounds it, `String` does not. */
export function isNumber(value: unknown): value is number | ExactNumber {
  return typeof value === "number" || value instanceof ExactNumber;
}

/** Where a number can have more than 15 digits, or be infinite or nearly zero. Nearly all JSON has none such, and is parsed at once. */
const long = /(?:^|[\s:,[])-?\d(?:[\d.]{15}|[\d.]*[eE][+-]?\d{3})/;
const escapeQuoteOrLong = /\\.|"|-?\d[\d.eE+-]{15,}|-?\d[\d.]*[eE][+-]?\d{3,}/g;
/** Marks a long number as a text, as no document has it. */
const mark = `${crypto.randomUUID()} `;

/**
 * Parses JSON as `JSON.parse` does. Numbers that a double would change are an `ExactNumber`. A reviver takes longer, and
 * fails on deep documents.
 */
export function parseJson(json: string): unknown {
  const value: unknown = JSON.parse(json);
  if (!long.test(json)) return value;
  let isText = false;
  const marked = json.replaceAll(escapeQuoteOrLong, (part) => {
    if (part === '"') isText = !isText;
    return isText || !/^-?\d/.test(part) || String(Number(part)) === part
      ? part
      : `"${mark}${part}"`;
  });
  if (marked === json) return value;
  const root: unknown[] = [JSON.parse(marked)];
  const open: Record<string | number, unknown>[] = [Object(root)];
  for (const holder of open) {
    for (const key of Array.isArray(holder) ? holder.keys() : Object.keys(holder)) {
      const inner = holder[key];
      if (typeof inner === "object" && inner !== null) open.push(Object(inner));
      else if (typeof inner === "string" && inner.startsWith(mark)) {
        holder[key] = new ExactNumber(inner.slice(mark.length));
      }
    }
  }
  return root[0];
}
