import { AppError } from "./errors.ts";

import type { ItemId, Position } from "./page.ts";

const maxCursorLength = 512;

/** The opaque text for a position: base64url (RFC 4648 section 5, no padding) of a JSON object. */
export function encodeCursor(item: { readonly createdAt: Date; readonly id: ItemId }): string {
  const position = JSON.stringify({ createdAt: item.createdAt.toISOString(), id: item.id });
  return Buffer.from(position).toString("base64url");
}

/**
 * The position that a cursor names. Strict in alphabet, length, keys, types and the way a time is
 * written, else `invalid-cursor`; a client that makes its own may space and order the JSON as it likes,
 * and leave out `id`. `idPrefix` is that of the list's ids: a cursor of another list is refused too.
 */
export function decodeCursor(text: string, idPrefix: string): Position {
  return decode(text, (id): id is string => typeof id === "string" && id.startsWith(idPrefix));
}

/** The same for a list whose ids are positive whole numbers. */
export function decodeNumberCursor(text: string): Position<number> {
  return decode(
    text,
    (id): id is number => typeof id === "number" && Number.isSafeInteger(id) && id > 0,
  );
}

function decode<Id extends ItemId>(text: string, isId: (id: unknown) => id is Id): Position<Id> {
  const position = text.length <= maxCursorLength ? parse(text, isId) : null;
  if (position === null) {
    throw new AppError("invalid-cursor", "The cursor is not one that this list returned", {
      errors: [
        { parameter: "cursor", code: "invalid-cursor", detail: "Leave it out to start over" },
      ],
    });
  }
  return position;
}

function parse<Id extends ItemId>(
  text: string,
  isId: (id: unknown) => id is Id,
): Position<Id> | null {
  const bytes = Buffer.from(text, "base64url");
  if (text === "" || bytes.toString("base64url") !== text) return null;
  const value = parseJson(bytes);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const { createdAt, id, ...rest }: Record<string, unknown> = { ...value };
  if (Object.keys(rest).length > 0 || typeof createdAt !== "string") return null;
  if ("id" in value && !isId(id)) return null;
  const time = new Date(createdAt);
  const exact = !Number.isNaN(time.getTime()) && time.toISOString() === createdAt;
  return exact ? { createdAt: time, id: isId(id) ? id : null } : null;
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    // JSON does not begin with a byte order mark (RFC 8259 section 8.1), so it must stay to be refused.
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return null;
  }
}
