import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import { decodeCursor, decodeNumberCursor, encodeCursor } from "../../src/base/cursor.ts";
import { forAll } from "../support/runs.ts";

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const time = "2026-11-21T09:12:44.120Z";

describe("a cursor", () => {
  test("is base64url without padding of createdAt and id, as the specification writes it", () => {
    const cursor = encodeCursor({ createdAt: new Date(time), id: "evt_1" });
    expect(cursor).toBe(encode({ createdAt: time, id: "evt_1" }));
  });

  test("decodes to its item", () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date(0), max: new Date("9999-12-31"), noInvalidDate: true }),
        fc.stringMatching(/^[0-9a-f]{1,32}$/),
        (createdAt, hex) => {
          const item = { createdAt, id: `evt_${hex}` };
          expect(decodeCursor(encodeCursor(item), "evt_")).toEqual(item);
        },
      ),
    );
  });

  test("may hold a time alone", () => {
    const position = decodeCursor(encode({ createdAt: time }), "evt_");
    expect(position).toEqual({ createdAt: new Date(time), id: null });
  });

  test("of a list whose ids have a prefix is not one of a list whose ids have none", () => {
    const cursor = encode({ createdAt: time, id: "evt_1" });
    expect(() => decodeCursor(cursor, "")).toThrow("invalid-cursor");
    const own = encode({ createdAt: time, id: "019a9c5e-7a3b-7c1d-9e2f-1a2b3c4d5e6f" });
    expect(decodeCursor(own, "").id).toBe("019a9c5e-7a3b-7c1d-9e2f-1a2b3c4d5e6f");
  });

  test.each([
    ["nothing", ""],
    ["not base64url", "a b"],
    ["padding", `${encode({ createdAt: time, id: "evt_12" })}==`],
    ["the standard alphabet", Buffer.from('{"a":"???>>>"}').toString("base64")],
    ["stray trailing characters", `${encode({ createdAt: time, id: "evt_1" })}A`],
    ["not JSON", Buffer.from("hello").toString("base64url")],
    ["not UTF-8", Buffer.from([0xff, 0xfe]).toString("base64url")],
    [
      "a byte order mark",
      Buffer.from(`\ufeff{"createdAt":"${time}","id":"evt_1"}`).toString("base64url"),
    ],
    ["null", encode(null)],
    ["an array", encode([time, "evt_1"])],
    ["a string", encode("evt_1")],
    ["no time", encode({ id: "evt_1" })],
    ["a number as the time", encode({ createdAt: 1, id: "evt_1" })],
    ["a day that does not exist", encode({ createdAt: "2026-02-30T00:00:00.000Z", id: "evt_1" })],
    ["a time without milliseconds", encode({ createdAt: "2026-11-21T09:12:44Z", id: "evt_1" })],
    ["a time with an offset", encode({ createdAt: "2026-11-21T10:12:44.120+01:00", id: "evt_1" })],
    ["text that is not a time", encode({ createdAt: "x", id: "evt_1" })],
    ["a number as the id", encode({ createdAt: time, id: 1 })],
    ["null as the id", encode({ createdAt: time, id: null })],
    ["an extra key", encode({ createdAt: time, id: "evt_1", page: 2 })],
    ["another list's id", encode({ createdAt: time, id: "ntf_1" })],
    ["more than 512 characters", encode({ createdAt: time, id: `evt_${"1".repeat(600)}` })],
  ])("is rejected: %s", (_, cursor) => {
    expect(() => decodeCursor(cursor, "evt_")).toThrow("invalid-cursor");
  });

  test("made of random text is rejected with invalid-cursor, never with another error", () => {
    forAll(100, [fc.string({ unit: "binary" })], (text) => {
      expect(() => decodeCursor(text, "evt_")).toThrow("invalid-cursor");
    });
  });

  test("of a list with numeric ids holds a number, which only such a list accepts", () => {
    const item = { createdAt: new Date(time), id: 10 };
    const cursor = encodeCursor(item);
    expect(cursor).toBe(encode({ createdAt: time, id: 10 }));
    expect(decodeNumberCursor(cursor)).toEqual(item);
    expect(decodeNumberCursor(encode({ createdAt: time }))).toEqual({ ...item, id: null });
    expect(() => decodeCursor(cursor, "")).toThrow("invalid-cursor");
    for (const id of ["10", "evt_1", 0, -1, 1.5, 2 ** 53, null, true, [1], {}]) {
      const other = encode({ createdAt: time, id });
      expect(() => decodeNumberCursor(other)).toThrow("invalid-cursor");
    }
  });
});
