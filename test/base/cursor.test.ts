import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import { decodeCursor, decodeNumberCursor, encodeCursor } from "../../src/base/cursor.ts";

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const time = "2026-11-21T09:12:44.120Z";

describe("a cursor", () => {
  test("is base64url without padding of createdAt and id, as the specification writes it", () => {
    const cursor = encodeCursor({ createdAt: new Date(time), id: "evt_1" });
    expect(cursor).toBe(encode({ createdAt: time, id: "evt_1" }));
  });

  test("leads back to its item", () => {
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

  test("with a time alone is read", () => {
    const position = decodeCursor(encode({ createdAt: time }), "evt_");
    expect(position).toEqual({ createdAt: new Date(time), id: null });
  });

  test.each([
    ["nothing", ""],
    ["no base64url", "a b"],
    ["padding", `${encode({ createdAt: time, id: "evt_12" })}==`],
    ["the standard alphabet", Buffer.from('{"a":"???>>>"}').toString("base64")],
    ["a tail that no encoder writes", `${encode({ createdAt: time, id: "evt_1" })}A`],
    ["no JSON", Buffer.from("hello").toString("base64url")],
    ["no UTF-8", Buffer.from([0xff, 0xfe]).toString("base64url")],
    [
      "a byte order mark",
      Buffer.from(`\ufeff{"createdAt":"${time}","id":"evt_1"}`).toString("base64url"),
    ],
    ["null", encode(null)],
    ["an array", encode([time, "evt_1"])],
    ["a text", encode("evt_1")],
    ["no time", encode({ id: "evt_1" })],
    ["a number for a time", encode({ createdAt: 1, id: "evt_1" })],
    ["no such day", encode({ createdAt: "2026-02-30T00:00:00.000Z", id: "evt_1" })],
    ["a time without milliseconds", encode({ createdAt: "2026-11-21T09:12:44Z", id: "evt_1" })],
    ["a time with an offset", encode({ createdAt: "2026-11-21T10:12:44.120+01:00", id: "evt_1" })],
    ["no time at all", encode({ createdAt: "x", id: "evt_1" })],
    ["a number for an id", encode({ createdAt: time, id: 1 })],
    ["null for an id", encode({ createdAt: time, id: null })],
    ["a key too many", encode({ createdAt: time, id: "evt_1", page: 2 })],
    ["another list's id", encode({ createdAt: time, id: "ntf_1" })],
    ["more than 512 characters", encode({ createdAt: time, id: `evt_${"1".repeat(600)}` })],
  ])("of %s is refused", (_, cursor) => {
    expect(() => decodeCursor(cursor, "evt_")).toThrow("invalid-cursor");
  });

  test("of any other text is refused, never a fault", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(() => decodeCursor(text, "evt_")).toThrow("invalid-cursor");
      }),
    );
  });

  test("of a list with numbers carries a number, and only such a list takes it", () => {
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
