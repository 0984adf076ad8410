import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import {
  type Choices,
  choicesIn,
  conditionFields,
  expressionOf,
  inWords,
} from "../../src/console/page/destinations/filter-choices.ts";
import { compileFilter } from "../../src/outbound/filters/filter.ts";
import { forAll } from "../support/runs.ts";

const event = {
  provider: "deploy_platform",
  type: "deploy.error",
  severity: "error",
  subject: "deployment/dpl_1",
  title: "",
  actor: null,
  data: {},
} as const;

/** What the conditions mean. */
function matches({ join, conditions }: Choices): boolean {
  const results = conditions.map(({ field, operator, value }) => {
    if (operator === "startsWith") return event[field].startsWith(value);
    return (event[field] === value) === (operator === "==");
  });
  return join === "&&" ? results.every(Boolean) : results.some(Boolean);
}

const choices: fc.Arbitrary<Choices> = fc.record({
  join: fc.constantFrom("&&", "||"),
  conditions: fc.array(
    fc.record({
      field: fc.constantFrom(...conditionFields),
      operator: fc.constantFrom("==", "!=", "startsWith"),
      value: fc.oneof(
        fc.constantFrom("error", "deploy.error", "deploy", ""),
        fc.string({ unit: "grapheme" }).filter((text) => !/["\\\p{Cc}]/u.test(text)),
      ),
    }),
    { minLength: 2, maxLength: 5 },
  ),
});

describe("the conditions of a filter", () => {
  test("are read back from their expression, which means the same", () => {
    forAll(100, [choices], (chosen) => {
      const expression = expressionOf(chosen);
      expect(choicesIn(expression)).toEqual(chosen);
      expect(compileFilter(expression).match(event)).toEqual({ matches: matches(chosen) });
    });
  });

  test.each([
    'event.type == "a" && event.type == "b" || event.type == "c"',
    '(event.type == "a")',
    '!(event.type == "a")',
    'event.data.amount == "a"',
    'event.type == "a\\"b"',
    'event.type == "a" event.type == "b"',
    'event.type == "a" &&',
    "event.type",
    'event.type = "a"',
  ])("%s is more than conditions", (expression) => {
    expect(choicesIn(expression)).toBeNull();
  });

  test.each([
    ['event.severity == "error"', "severity is error"],
    [
      'event.type.startsWith("pay") || event.provider != "a"',
      "type starts with pay or provider is not a",
    ],
    ["size(event.title) > 3", "size(event.title) > 3"],
  ])("%s is %s in words", (expression, words) => {
    expect(inWords(expression)).toBe(words);
  });

  test("no text in a condition ends its string", () => {
    const value = '" || true || "\\"\n';
    const conditions = [{ field: "type", operator: "==", value }] as const;
    expect(expressionOf({ join: "&&", conditions })).toBe('event.type == " || true || "');
  });
});
