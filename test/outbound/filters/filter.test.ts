import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import {
  compileFilter,
  type FilteredEvent,
  FilterError,
} from "../../../src/outbound/filters/filter.ts";
import { maxFilterCharacters } from "../../../src/outbound/model/destination-fields.ts";
import { thrown } from "../../support/failure.ts";
import { forAll } from "../../support/runs.ts";

const failedDeploy: FilteredEvent = {
  provider: "deploy_platform",
  type: "deploy.error",
  subject: null,
  title: "Deploy failed: web",
  actor: "ada",
  severity: "error",
  data: { environment: "production", amount: 120.5, count: 3, note: null, test: false },
};

function errorOf(source: string): FilterError {
  const error = thrown(FilterError, () => compileFilter(source));
  if (error === null) throw new Error(`${source} compiles`);
  return error;
}

test.each([
  ['event.type == "deploy.error"', true],
  ['event.type == "deploy.error" && event.data.environment == "production"', true],
  ['event.provider in ["code_host", "deploy_platform"]', true],
  ['event.severity == "error" || event.severity == "warning"', true],
  ['event.type.startsWith("deploy.")', true],
  ['event.title.contains("web") && !event.title.endsWith("api")', true],
  ["event.data.amount > 120", true],
  ["event.data.amount > 121", false],
  ["event.data.count >= 3", true],
  ["event.data.test", false],
  ["size(event.title) > 3", true],
  ['event.data["environment"] == "production"', true],
  ["event.subject == null", true],
  ["true", true],
  ["false", false],
])("matches %s is %p", (source, matches) => {
  expect(compileFilter(source).match(failedDeploy)).toEqual({ matches });
});

test.each([
  ['event.provider == "slack"', true],
  ['"slack" == event.provider', true],
  ['event["provider"] == "slack"', true],
  ['event.provider in ["code_host", "slack"]', true],
  ['event.provider == "code_host" || event.provider == "slack"', true],
  ['event.provider == "slack" ? event.severity == "error" : true', true],
  ['!(event.provider != "slack") && event.type == "x"', true],
  // It says what is to happen with its events, so nothing is left out silently.
  ['event.provider != "slack" || event.severity == "error"', true],
  ['event.provider != "code_host"', false],
  ['event.provider == "slack_eu"', false],
  ['event.title.contains("slack")', false],
  ['event.data.provider == "slack"', false],
  ['event.provider == "code_host" && event.data.channel == "slack"', false],
  ['event.type == "slack" // event.provider == "slack"', false],
  ['event.severity == "error"', false],
  ["true", false],
])("names a provider %s: %p", (source, isNamed) => {
  expect(compileFilter(source).names("slack")).toBe(isNamed);
});

test.each([
  ['event.data.region == "eu"', false],
  ['event.data.region != "eu"', false],
  ["event.data.region > 5", false],
  ["event.data.note > 5", false],
  ['event.subject.startsWith("task/")', false],
  ['!(event.data.region == "eu")', false],
  ["has(event.data.region)", false],
  ['!has(event.data.region) || event.data.region == "eu"', true],
  ['event.data.region == "eu" || event.severity == "error"', true],
  ['event.data.region == "eu" && event.severity == "error"', false],
  ["event.data.constructor == null", false],
  ["has(event.data.__proto__)", false],
])("a missing value %s is %p", (source, matches) => {
  expect(compileFilter(source).match(failedDeploy)).toEqual({ matches });
});

test.each([
  "event.data.environment > 5",
  "event.data.count.startsWith('3')",
  "event.data.count / 0 > 1",
  "int(event.data.environment) > 1",
  "event.data.environment",
])("an expression that cannot be evaluated %s reports an error", (source) => {
  expect(compileFilter(source).match(failedDeploy)).toEqual({ error: expect.any(String) });
});

describe("refuses", () => {
  test.each([
    ['event.typ == "x"', 1, 7, "Did you mean event.type?"],
    ['type == "x"', 1, 1, "Write event.type."],
    ['evnt.type == "x"', 1, 1, "Expressions read event"],
    ['event.type = "x"', 1, 12, "Unexpected character: ="],
    ["event.type == 5", 1, 1, "string == int"],
    ["event.type", 1, 1, "Write a comparison"],
    ["", 1, 1, "Unexpected token"],
    ['event.severity == "error" &&\n  event.typo == "x"', 2, 9, "event.type"],
    ['event.title.matches("(a+)+$")', 1, 1, "matches() is not available"],
    ["[1, 2].exists(n, n > 1)", 1, 1, "exists() is not available"],
    ["[1, 2].map(n, n * 2).size() > 1", 1, 1, "map() is not available"],
    [`event.type == "${"x".repeat(maxFilterCharacters)}"`, 1, 1, "at most"],
  ])("%s at line %d, column %d", (source, line, column, detail) => {
    const error = errorOf(source);
    expect(error.detail).toContain(detail);
    expect({ line: error.line, column: error.column }).toEqual({ line, column });
  });

  test("deep and long expressions before they run", () => {
    expect(errorOf(`${"(".repeat(200)}true${")".repeat(200)}`).detail).toContain("maxDepth");
    expect(errorOf(Array(301).fill("true").join("||")).detail).toContain("maxAstNodes");
  });
});

describe("explains which part did not match", () => {
  test.each([
    [
      'event.provider == "deploy_platform" && event.data.environment == "staging"',
      'event.data.environment == "staging"',
      { "event.data.environment": "production" },
    ],
    [
      'event.severity == "error" && (event.data.region == "eu" && event.data.count > 5)',
      'event.data.region == "eu"',
      { "event.data.region": null },
    ],
    [
      'event.severity == "info" || event.severity == "success"',
      'event.severity == "info" || event.severity == "success"',
      { "event.severity": "error" },
    ],
  ])("%s", (source, clause, values) => {
    expect(compileFilter(source).explain(failedDeploy)).toEqual({ clause, values });
  });

  test("not when the event matches", () => {
    expect(compileFilter("true").explain(failedDeploy)).toBeNull();
  });
});

test("never throws anything but a FilterError, whatever the expression", () => {
  const word = fc.constantFrom(
    ..."event . data type ( ) [ ] && || ! == != < > in ? : + - * / % 'a' \"b\" 1 2u 1.5 null true has size , x {} b'' __proto__ matches".split(
      " ",
    ),
  );
  const source = fc.array(word, { maxLength: 20 }).map((words) => words.join(" "));
  forAll(100, [fc.oneof(source, fc.string())], (text) => {
    thrown(FilterError, () => compileFilter(text).explain(failedDeploy));
  });
});

test("matches and explains agree for every event", () => {
  const filter = compileFilter(
    'event.severity == "error" && (event.data.n > 5 || event.title.contains("x"))',
  );
  const event = fc.record({
    severity: fc.constantFrom("error" as const, "info" as const),
    title: fc.string(),
    data: fc.dictionary(
      fc.constantFrom("n", "m", "__proto__"),
      fc.oneof(fc.integer(), fc.string(), fc.constant(null)),
    ),
  });
  forAll(100, [event], (fields) => {
    const whole = { ...failedDeploy, ...fields };
    const result = filter.match(whole);
    const isNoMatch = !("error" in result) && !result.matches;
    expect(filter.explain(whole) !== null).toBe(isNoMatch);
  });
});
