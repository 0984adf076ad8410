import { describe, expect, test } from "bun:test";

import { AppError } from "../../src/base/errors.ts";
import { jsonOf } from "../../src/web/json-body.ts";
import { thrown } from "../support/failure.ts";
import { timesAsLong } from "../support/processor-time.ts";

function rejection(text: string): string | null {
  const read = () => expect(jsonOf(Buffer.from(text))).toEqual(JSON.parse(text));
  const error = thrown(AppError, read);
  if (error !== null) expect(error.code).toBe("invalid-body");
  return error?.detail ?? null;
}

describe("a JSON body", () => {
  test.each([
    ['"\\ud83d\\ude00"', false],
    ['"\\uD83D\\uDE00\\uD83D\\uDE00"', false],
    ['"\\\\ud83d"', false],
    ['"\\ue000\\ud7ff\\u0064"', false],
    ['"\\"\\\\"', false],
    ['"\\ud83d"', true],
    ['"\\ude00"', true],
    ['"\\ude00\\ud83d"', true],
    ['"\\ud83d\\ud83d\\ude00"', true],
    ['"\\ud83d \\ude00"', true],
    ['"\\ud83d\\\\ude00"', true],
    ['"\\\\\\udbff"', true],
    ['{"a":[{"\\udfff":1}]}', true],
  ])("must not contain a lone surrogate: %s", (text, isLone) => {
    expect(rejection(text)).toBe(
      isLone ? "The JSON contains a lone surrogate. Escape surrogates in pairs." : null,
    );
  });

  test.each([
    ["[", "]"],
    ['{"a":', "}"],
  ])("is at most 32 levels deep, of %s", (open, close) => {
    const nested = (levels: number) => `${open.repeat(levels)}"[[{{\\"[["${close.repeat(levels)}`;
    const wide = `[${Array.from({ length: 40 }, () => nested(31)).join(",")}]`;
    for (const text of [nested(32), wide]) expect(rejection(text)).toBeNull();
    for (const text of [nested(33), `[${wide}]`]) {
      expect(rejection(text)).toBe("The JSON is nested more than 32 levels deep");
    }
  });

  test("of 85,000 small objects takes little longer than its parsing", async () => {
    const text = `[${"{},".repeat(85_000)}1]`;
    const body = Buffer.from(text);
    const parse = () => JSON.parse(text);
    // To walk the value takes thirty times as long.
    expect(await timesAsLong(parse, () => jsonOf(body), 8)).toBeLessThanOrEqual(8);
  });
});
