import { describe, expect, test } from "bun:test";

import { answerText, maxAnswerLength } from "../../src/mcp/answer.ts";

describe("the answer of a tool", () => {
  test("counts beside a long array what was left out of it", () => {
    const list = Array.from({ length: 300 }, (_, n) => ({ n, text: "x".repeat(100) }));
    const answer = { list, inner: { list, few: [1] } };
    const cut: Readonly<Record<string, unknown>> = JSON.parse(answerText(answer));
    expect(cut["omitted"]).toEqual({ list: 250 });
    expect(cut["list"]).toEqual(list.slice(0, 50));
    expect(cut["inner"]).toEqual({ list: list.slice(0, 50), few: [1], omitted: { list: 250 } });
    expect(answer.list).toHaveLength(300);
  });

  test("is an error if it is too long however it is cut", () => {
    const wide = Object.fromEntries(Array.from({ length: maxAnswerLength }, (_, n) => [n, n]));
    expect(() => answerText(wide)).toThrow("The answer is too long. Ask for less");
  });
});
