import { AppError } from "./errors.ts";
import type { ItemId, Position } from "./page.ts";

const maxCursorLength = 512;

/** An item's position as an opaque cursor: base64url (RFC 4648 section 5, no padding) of a JSON object. */
export function encodeCursor(item: { readonly createdAt: Date; readonly id: ItemId }): string {
  const position = JSON.stringify({ createdAt: item.createdAt.toISOString(), id: item.id });
  return Buffer.from(position).toString("base64url");
}

/**
 * Decodes a cursor. The alphabet, length, keys, types and time format are checked strictly. Clients may build
 * their own cursors: white space and key order in the JSON do not matter, and `id` is optional.
 * `idPrefix` is the prefix of the list's ids; empty if they have none. Throws `invalid-cursor`, also for a cursor from another list.
 */
export function decodeCursor(text: string, idPrefix: string): Position {
  return decode(text, (id): id is string => typeof id === "string" && prefixOf(id) === idPrefix);
}

/** `evt_` of `evt_1`; empty for an id without a prefix, such as a user's. */
function prefixOf(id: string): string {
  return id.slice(0, id.indexOf("_") + 1);
}

/** Like `decodeCursor`, for a list whose ids are positive integers. */
export function decodeNumberCursor(text: string): Position<number> {
  return decode(
    text,
    (id): id is number => typeof id === "number" && Number.isSafeInteger(id) && id > 0,
  );
}

function decode<Id extends ItemId>(text: string, isId: (id: unknown) => id is Id): Position<Id> {
  const position = text.length <= maxCursorLength ? parse(text, isId) : null;
  if (position === null) throw foreignCursor();
  return position;
}

/** The error for a cursor of another list. */
export function foreignCursor(): AppError {
  const detail = "The cursor does not come from this list. Omit it to start from the first page.";
  return new AppError("invalid-cursor", detail, {
    errors: [{ parameter: "cursor", code: "invalid-cursor", detail: "Not a cursor of this list" }],
  });
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
    // JSON must not begin with a byte order mark (RFC 8259 section 8.1). The decoder keeps the mark, so that
    // `JSON.parse` rejects it.
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return null;
  }
}
