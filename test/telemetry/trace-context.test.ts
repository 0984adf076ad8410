import { describe, expect, test } from "bun:test";

import { readTraceContext, traceHeaders } from "../../src/telemetry/tracing/trace-context.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";
const good = `00-${traceId}-${spanId}-01`;

describe("traceparent", () => {
  test("is parsed and serialized", () => {
    const context = readTraceContext(good, "vendor=a b,other@tenant=1");
    expect(context).toEqual({ traceId, spanId, sampled: true, state: "vendor=a b,other@tenant=1" });
    expect(context && traceHeaders(context)).toEqual({
      traceparent: good,
      tracestate: "vendor=a b,other@tenant=1",
    });
  });

  test.each([
    [`00-${traceId}-${spanId}-00`, false],
    [`00-${traceId}-${spanId}-03`, true],
    [`00-${traceId}-${spanId}-fe`, false],
    [`cc-${traceId}-${spanId}-01`, true],
    [`cc-${traceId}-${spanId}-01-future-field`, true],
  ])("%s: sampled %p", (header, sampled) => {
    expect(readTraceContext(header, null)).toEqual({ traceId, spanId, sampled, state: null });
  });

  test.each([
    "",
    "00",
    good.toUpperCase(),
    ` ${good}`,
    `${good} `,
    `${good}-more`,
    `${good}, ${good}`,
    `ff-${traceId}-${spanId}-01`,
    `00-${"0".repeat(32)}-${spanId}-01`,
    `00-${traceId}-${"0".repeat(16)}-01`,
    `00-${traceId.slice(1)}-${spanId}-01`,
    `cc-${traceId}-${spanId}-01.more`,
    `00-${traceId}-${spanId}-1`,
    `00-${traceId}-${spanId}-0g`,
  ])("that is malformed is ignored: %p", (header) => {
    expect(readTraceContext(header, "vendor=1")).toBeNull();
  });
});

describe("tracestate", () => {
  test.each([
    ["a=1", "a=1"],
    [" a=1 ,, b=2 ", "a=1,b=2"],
    ["1a-b_c*d/e@f=!x", "1a-b_c*d/e@f=!x"],
  ])("%p is propagated as %p", (header, state) => {
    expect(readTraceContext(good, header)?.state).toBe(state);
  });

  test.each([
    "",
    ",",
    "a",
    "a=",
    "=1",
    "A=1",
    "a=1=2",
    "a=é",
    "a=1\tb",
    `a=${"x".repeat(511)}`,
    `a=${"x".repeat(256)},b=${"x".repeat(252)}`,
    Array.from({ length: 33 }, (_, index) => `k${index}=1`).join(","),
  ])("that is malformed or too long is omitted: %p", (header) => {
    expect(readTraceContext(good, header)).toMatchObject({ traceId, state: null });
  });
});
