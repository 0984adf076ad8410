import fc from "fast-check";

import { decodeCursor, decodeNumberCursor, encodeCursor } from "../../../src/base/cursor.ts";
import { AppError } from "../../../src/base/errors.ts";

import { jsonText } from "./json.ts";
import { target } from "./target.ts";
import { damaged, hostileText } from "./text.ts";

const moment = fc
  .date({ min: new Date(0), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true })
  .map((date) => date.toISOString());

/** Cursors: good ones, those of other lists, nearly good ones, and texts that are none. */
export const cursor: fc.Arbitrary<string> = fc.oneof(
  fc
    .record({
      createdAt: fc.oneof(moment, hostileText),
      id: fc.oneof(
        fc.constantFrom("evt_1", "bk_1", "ntf_1", "rej_1", ""),
        hostileText,
        fc.integer(),
      ),
    })
    .map((position) => Buffer.from(JSON.stringify(position)).toString("base64url")),
  moment.map((createdAt) => Buffer.from(JSON.stringify({ createdAt })).toString("base64url")),
  damaged(moment.map((createdAt) => Buffer.from(JSON.stringify({ createdAt, id: "evt_1" })))).map(
    (bytes) => Buffer.from(bytes).toString("base64url"),
  ),
  jsonText.map((text) => Buffer.from(text).toString("base64url")),
  hostileText,
);

/** A position that a cursor is read as, or null when it is refused as the contract says. */
function positionOf<Position>(read: () => Position): Position | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof AppError && error.code === "invalid-cursor") return null;
    throw error;
  }
}

export const cursors = target({
  name: "cursors",
  about: "any text as a cursor: refused, or a position that survives being written again",
  shortRuns: 500,
  cases: cursor,
  check(text) {
    const position =
      positionOf(() => decodeCursor(text, "")) ?? positionOf(() => decodeNumberCursor(text));
    if (position === null || position.id === null) return;
    const { createdAt, id } = position;
    const again = encodeCursor({ createdAt, id });
    const read = typeof id === "string" ? decodeCursor(again, "") : decodeNumberCursor(again);
    if (read.id !== id || read.createdAt.getTime() !== createdAt.getTime()) {
      throw new Error(`Read as ${createdAt.toISOString()} ${id}, and again as something else`);
    }
  },
});
