import fc from "fast-check";

import { decodeCursor, decodeNumberCursor, encodeCursor } from "../../../src/base/cursor.ts";
import { AppError } from "../../../src/base/errors.ts";

import { jsonText } from "./json.ts";
import { type FuzzRequest, get } from "./request.ts";
import { requestTarget, target } from "./target.ts";
import { damaged, hostileQueryValue, hostileText } from "./text.ts";

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

const page = ["limit", "cursor", "direction", "page", "include"];
const search = ["origin", "destination", "departureDate"];

/** The query parameters of each list. */
const known: readonly (readonly [path: string, names: readonly string[]])[] = [
  ["/v1/events", [...page, "provider", "type", "status"]],
  [
    "/v1/events",
    [...page, "type", "q", "q", "from", "to", "subject", "idempotencyKey", "delivery"],
  ],
  ["/v1/notifications", [...page, "status"]],
  ["/v1/rejections", [...page, "provider", "reason", "from", "to"]],
  ["/v1/api/bookings", [...page, "userId", "q"]],
  ["/v1/users", page],
  ["/v1/api/flights", [...search, "passengers", "cabinClass", "page", "limit"]],
  [
    "/v1/api/flights?origin=JFK&destination=LHR&departureDate=2026-12-21",
    [...search, "passengers", "cabinClass", "page", "limit"],
  ],
];

const good = new Map<string, readonly string[]>(
  Object.entries({
    limit: ["1", "20", "100", "101", "99999999999999999999"],
    cursor: ["{cursor}"],
    direction: ["forward", "backward"],
    page: ["1", "2", "10000"],
    include: ["total"],
    origin: ["JFK", "jfk"],
    destination: ["LHR"],
    departureDate: ["2026-12-01", "0000-01-01", "9999-12-31", "2026-12-21"],
    passengers: ["1", "9", "10"],
    cabinClass: ["economy"],
    status: ["accepted", "dead"],
    q: ["bk_1", "ABCDEF", "ada@example.com", "t*", "%22a%20b%22*", "a%20OR%20(b", "NEAR(a,b)"],
    type: ["task.*", "*", "task.completed"],
    from: ["2026-11-21T09:00:00Z", "1970-01-01T00:00:00+01:00", "-271821-04-20T00:00:00Z"],
    to: ["2026-11-21T09:00:00Z", "9999-12-31T23:59:59.999999999Z"],
    delivery: ["dead", "none", "delivered"],
  }),
);

const parameterOf = (name: string): fc.Arbitrary<string> =>
  fc
    .oneof(
      { weight: 3, arbitrary: fc.constantFrom(...(good.get(name) ?? ["a"])) },
      { weight: 3, arbitrary: hostileQueryValue },
      { weight: 1, arbitrary: fc.constant("") },
      {
        weight: name === "cursor" ? 5 : 0,
        arbitrary: cursor.map((text) => encodeURIComponent(text.toWellFormed())),
      },
    )
    .map((value) => `${name}=${value}`);

const unknown = fc.constantFrom("__proto__", "Limit", "limit[]", "q", "userId", "%00");

const requests: fc.Arbitrary<FuzzRequest> = fc.constantFrom(...known).chain(([path, names]) =>
  fc
    .record({
      parameters: fc.array(
        fc
          .oneof(
            { weight: 30, arbitrary: fc.constantFrom(...names) },
            { weight: 1, arbitrary: unknown },
          )
          .chain(parameterOf),
        { maxLength: 4 },
      ),
      as: fc.constantFrom("admin" as const, "admin" as const, "user" as const, null),
    })
    .map(({ parameters, as }) =>
      get(`${path}${path.includes("?") ? "&" : "?"}${parameters.join("&")}`, as),
    ),
);

export const lists = requestTarget({
  name: "lists",
  about: "query strings and cursors of every list and of the search",
  shortRuns: 400,
  requests,
});

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
