import { AppError } from "../errors.ts";

import type { Position } from "./page.ts";

const maxCursorLength = 512;

/** The opaque text for a position: base64url (RFC 4648 section 5, no padding) of a JSON object. */
export function encodeCursor(item: { readonly createdAt: Date; readonly id: string }): string {
  const position = JSON.stringify({ createdAt: item.createdAt.toISOString(), id: item.id });
  return Buffer.from(position).toString("base64url");
}

/**
 * The position that a cursor names. Strict: what this program would not have written is refused with
 * `invalid-cursor`, save the simplified form without `id`. `idPrefix` is that of the list's ids: a
 * cursor of another list is refused too.
 */
export function decodeCursor(text: string, idPrefix: string): Position {
  const position = text.length <= maxCursorLength ? parse(text) : null;
  if (position === null || (position.id !== null && !position.id.startsWith(idPrefix))) {
    throw new AppError("invalid-cursor", "The cursor is not one that this list returned", {
      errors: [
        { parameter: "cursor", code: "invalid-cursor", detail: "Leave it out to start over" },
      ],
    });
  }
  return position;
}

function parse(text: string): Position | null {
  const bytes = Buffer.from(text, "base64url");
  if (text === "" || bytes.toString("base64url") !== text) return null;
  const value = parseJson(bytes);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const { createdAt, id = null, ...rest }: Record<string, unknown> = { ...value };
  if (Object.keys(rest).length > 0) return null;
  if (typeof createdAt !== "string" || !(typeof id === "string" || id === null)) return null;
  if (id === null && "id" in value) return null;
  const time = new Date(createdAt);
  const exact = !Number.isNaN(time.getTime()) && time.toISOString() === createdAt;
  return exact ? { createdAt: time, id } : null;
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
}
