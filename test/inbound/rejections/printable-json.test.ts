import { describe, expect, test } from "bun:test";

import { prettyJson } from "../../../src/inbound/rejections/printable-json.ts";

import { cpuMsOf, nestedJson } from "./hostile-bodies.ts";

describe("prettyJson", () => {
  const pretty = (text: string) => prettyJson(Buffer.from(text));

  test("formats JSON nested up to 16 levels and returns null for deeper JSON", () => {
    expect(pretty('{"a":[1,{}]}')).toBe('{\n  "a": [\n    1,\n    {}\n  ]\n}');
    expect(pretty(nestedJson(16, ""))).not.toBeNull();
    expect(pretty(nestedJson(17, ""))).toBeNull();
    expect(pretty(nestedJson(10_000, ""))).toBeNull();
  });

  test("ignores brackets in strings", () => {
    const text = JSON.stringify(["[".repeat(99), '"[[', "\\", "]".repeat(99)]);
    expect(JSON.parse(pretty(text) ?? "")).toEqual(JSON.parse(text));
  });

  test("rejects an unterminated string with many quotes in bounded time", async () => {
    const body = `"${'\\"'.repeat(131_000)}`;
    const spent = await cpuMsOf(() => expect(pretty(body)).toBeNull());
    expect(spent).toBeLessThan(400);
  });

  test.each(["", "{", "text", "\u0000"])("returns null for %p, which is not JSON", (text) => {
    expect(pretty(text)).toBeNull();
  });
});
