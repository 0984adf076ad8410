import { afterEach, describe, expect, test } from "bun:test";

import { spanExporter } from "../../src/telemetry/tracing/exporter.ts";
import { otlpRequest } from "../../src/telemetry/tracing/otlp.ts";
import type { EndedSpan } from "../../src/telemetry/tracing/span.ts";
import { startApp, until } from "../support/app.ts";
import { type TestCollector, testCollector } from "../support/collector.ts";
import { never } from "../support/gateway.ts";

const maxQueued = 2_048;
const maxBatch = 512;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

function collectorThat(answer: Parameters<typeof testCollector>[0]): TestCollector {
  const made = testCollector(answer);
  ends.push(() => made.stop());
  return made;
}

/** A URL that nobody listens at. */
async function nowhere(): Promise<string> {
  const collector = testCollector();
  await collector.stop();
  return collector.url;
}

const span = (name: string): EndedSpan => ({
  context: { traceId: "a".repeat(32), spanId: "b".repeat(16), sampled: true, state: null },
  parentSpanId: null,
  name,
  kind: "internal",
  startMs: 1_763_716_364_000.25,
  endMs: 1_763_716_364_001,
  attributes: {},
  failed: false,
});

function exporterTo(url: string, timeoutMs = 10_000) {
  const counts = { exported: 0, dropped: 0, rejected: 0 };
  const warnings: string[] = [];
  const note = (_: unknown, message?: string) => void warnings.push(message ?? "");
  const exporter = spanExporter({
    url: `${url}/v1/traces`,
    headers: {},
    timeoutMs,
    encode: (spans) => otlpRequest({}, { name: "test", version: "1" }, spans),
    count: (outcome, spans) => (counts[outcome] += spans),
    log: { debug() {}, info() {}, error() {}, warn: note },
  });
  return { exporter, counts, warnings };
}

describe("spans", () => {
  test("are posted in batches, in their order, one post at a time", async () => {
    let inFlight = 0;
    let most = 0;
    const collector = collectorThat(async () => {
      most = Math.max(most, (inFlight += 1));
      await Bun.sleep(5);
      inFlight -= 1;
      return Response.json({});
    });
    const { exporter, counts } = exporterTo(collector.url);
    for (let number = 0; number < 1_300; number += 1) exporter.take(span(String(number)));
    await until(() => counts.exported >= 2 * maxBatch);
    await exporter.stop(5_000);
    expect(collector.posts.map(({ spans }) => spans.length)).toEqual([maxBatch, maxBatch, 276]);
    expect(collector.spans().map(({ name }) => Number(name))).toEqual([...Array(1_300).keys()]);
    expect(counts).toEqual({ exported: 1_300, dropped: 0, rejected: 0 });
    expect(most).toBe(1);
  });

  test("have the form of OTLP's JSON encoding", () => {
    const failed: EndedSpan = {
      ...span("GET /x"),
      parentSpanId: "c".repeat(16),
      kind: "server",
      context: { ...span("").context, state: "vendor=1" },
      attributes: { text: "a", whole: 7, part: 0.5, yes: true },
      failed: true,
    };
    const request: unknown = JSON.parse(
      otlpRequest({ "service.name": "s" }, { name: "scope", version: "1" }, [failed, span("x")]),
    );
    expect(request).toEqual({
      resourceSpans: [
        {
          resource: { attributes: [{ key: "service.name", value: { stringValue: "s" } }] },
          scopeSpans: [
            {
              scope: { name: "scope", version: "1" },
              spans: [
                {
                  traceId: "a".repeat(32),
                  spanId: "b".repeat(16),
                  traceState: "vendor=1",
                  parentSpanId: "c".repeat(16),
                  flags: 1,
                  name: "GET /x",
                  kind: 2,
                  startTimeUnixNano: "1763716364000250000",
                  endTimeUnixNano: "1763716364001000000",
                  attributes: [
                    { key: "text", value: { stringValue: "a" } },
                    { key: "whole", value: { intValue: "7" } },
                    { key: "part", value: { doubleValue: 0.5 } },
                    { key: "yes", value: { boolValue: true } },
                  ],
                  status: { code: 2 },
                },
                expect.objectContaining({ name: "x", kind: 1, status: {}, attributes: [] }),
              ],
            },
          ],
        },
      ],
    });
  });
});

describe("a collector", () => {
  test("that hangs: the queue is bounded, what is beyond is dropped and counted", async () => {
    const collector = collectorThat(never);
    const { exporter, counts } = exporterTo(collector.url);
    for (let number = 0; number < maxQueued + 100; number += 1) exporter.take(span("x"));
    await until(() => collector.posts.length === 1);
    expect(counts).toEqual({ exported: 0, dropped: 100, rejected: 0 });
    const startedMs = performance.now();
    await exporter.stop(100);
    expect(performance.now() - startedMs).toBeLessThan(5_000);
    expect(counts).toEqual({ exported: 0, dropped: maxQueued + 100, rejected: 0 });
    expect(collector.posts).toHaveLength(1);
  });

  test("that hangs is given up after the time-out, and tried again with the same spans", async () => {
    const collector = collectorThat((number) => (number === 1 ? never() : Response.json({})));
    const { exporter, counts, warnings } = exporterTo(collector.url, 1_000);
    for (let number = 0; number < maxBatch; number += 1) exporter.take(span(String(number)));
    await until(() => counts.exported === maxBatch, 20_000);
    // More than two on a machine that is busy.
    expect(collector.posts.length).toBeGreaterThan(1);
    expect(new Set(collector.posts.map(({ body }) => body)).size).toBe(1);
    expect(warnings).toEqual(["traces cannot be exported; trying again"]);
    await exporter.stop(100);
  });

  test("that is not there is told of once, however often it is tried", async () => {
    const { exporter, counts, warnings } = exporterTo(await nowhere());
    for (let number = 0; number < maxBatch; number += 1) exporter.take(span("x"));
    await until(() => warnings.length === 1);
    await exporter.stop(1_000);
    expect(counts).toEqual({ exported: 0, dropped: maxBatch, rejected: 0 });
    expect(warnings).toHaveLength(1);
  });

  test.each([
    [400, 3],
    [401, 3],
    [404, 3],
    [302, 3],
  ])(
    "that answers %d has its %d spans counted as rejected, and no second try",
    async (status, n) => {
      const collector = collectorThat(
        () => new Response("no", { status, headers: { location: "/" } }),
      );
      const { exporter, counts, warnings } = exporterTo(collector.url);
      for (let number = 0; number < n; number += 1) exporter.take(span("x"));
      await exporter.stop(5_000);
      expect(counts).toEqual({ exported: 0, dropped: 0, rejected: n });
      expect(collector.posts).toHaveLength(1);
      expect(warnings).toEqual(["the collector refuses traces"]);
    },
  );

  test("that takes a part is believed", async () => {
    const answer = { partialSuccess: { rejectedSpans: "2", errorMessage: "too old" } };
    const { exporter, counts } = exporterTo(collectorThat(() => Response.json(answer)).url);
    for (let number = 0; number < 5; number += 1) exporter.take(span("x"));
    await exporter.stop(5_000);
    expect(counts).toEqual({ exported: 3, dropped: 0, rejected: 2 });
  });
});

describe("the service", () => {
  const body = (id: number) =>
    `{"event_name":"item:completed","event_data":{"id":"${id}","content":"Mow"}}`;

  test.each([
    ["is not there", nowhere],
    ["hangs", async () => collectorThat(never).url],
    ["answers nonsense", async () => collectorThat(() => new Response("{{", { status: 500 })).url],
  ])("loses and delays nothing where the collector %s", async (_, collectorUrl) => {
    const app = await startApp({ OTEL_EXPORTER_OTLP_ENDPOINT: await collectorUrl() });
    ends.push(() => app.stop());
    // Four spans each: more than the queue holds.
    for (let round = 0; round < 9; round += 1) {
      const answers = await Promise.all(
        Array.from({ length: 64 }, (_, index) =>
          app.deliver("task_tracker", body(round * 64 + index)),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 64 }, () => 200));
    }
    await until(async () =>
      /^skyhook_trace_spans_total\{outcome="(dropped|rejected)"\} [1-9]/m.test(
        await app.services.metrics.scrape(),
      ),
    );
  });
});
