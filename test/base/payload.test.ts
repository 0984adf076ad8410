import { describe, expect, test } from "bun:test";

import { anyTime, at, isoTimeAt, printable, shortHash, webUrl } from "../../src/base/payload.ts";
import { now } from "../support/providers.ts";

describe("payload readers", () => {
  test("read only own keys [API10-9]", () => {
    expect(at({}, "constructor", "name")).toBeUndefined();
    expect(at(JSON.parse('{"__proto__":{"a":1}}'), "a")).toBeUndefined();
    expect(at([1], "0")).toBeUndefined();
  });

  test("truncate long text at a character boundary", () => {
    expect(printable("🦉".repeat(9), 4)).toBe("🦉…");
    expect(printable("a\u0000\r\nb\u202ec\u2028 ")).toBe("a b c");
    expect(printable("\u0007\n")).toBeNull();
    expect(shortHash("3F2c9b7e5d1a48")).toBe("3F2c9b7e5d1a");
    expect(shortHash("main")).toBeNull();
  });

  test("accept only http and https URLs without user information [API10-8]", () => {
    expect(webUrl("HTTPS://Example.com/a b")).toBe("https://example.com/a%20b");
    for (const text of ["ftp://e.example/", "//e.example", "https://", "https://a@b.example/"]) {
      expect(webUrl(text)).toBeNull();
    }
    expect(webUrl(`https://e.example/${"é".repeat(1_000)}`)).toBeNull();
  });

  test("accept only times with an offset, in this century", () => {
    const time = (text: unknown) => isoTimeAt({ time: text }, "time")?.getTime();
    expect(time("2026-11-21T10:12:44.120000+01:00")).toBe(now.getTime());
    for (const text of ["2026-11-21T10:12:44", "2026-11-21", "0001-01-01T00:00:00Z", 1, null]) {
      expect(time(text)).toBeUndefined();
    }
    expect(time("2026-13-41T10:12:44Z")).toBeUndefined();
  });

  test.each([
    ["2026-11-21T09:12:44.120", now],
    [String(now.getTime()), now],
    [now.getTime() / 1_000, now],
    ["9999", null],
    [true, null],
    // No text can be made of it.
    [[{ toString: 0 }], null],
  ])("find the time in %j, however it is written", (value, time) => {
    expect(anyTime(value)).toEqual(time);
  });
});
