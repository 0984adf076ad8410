import fc from "fast-check";

import { jsonText } from "./json.ts";
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
