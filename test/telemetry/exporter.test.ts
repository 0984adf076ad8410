import { describe, expect, test } from "bun:test";

import {
  samplerNames,
  type TracingSettings,
} from "../../src/telemetry/tracing/tracing-settings.ts";
import { tracing } from "../../src/telemetry/tracing/tracing.ts";
import { startApp, until } from "../support/app.ts";
import { type TestCollector, testCollector } from "../support/collector.ts";
import { endsAfterEach } from "../support/ends.ts";
import { never } from "../support/gateway.ts";

const maxPending = 2_048;
const maxBatch = 512;

const ends = endsAfterEach();

function collectorThat(answer: Parameters<typeof testCollector>[0]): TestCollector {
  const made = testCollector(answer);
  ends.push(() => made.stop());
  return made;
}

/** A URL that no server listens on. */
async function nowhere(): Promise<string> {
  const collector = testCollector();
  await collector.stop();
  return collector.url;
}

const settings: TracingSettings = {
  otlpEndpoint: "http://127.0.0.1:1",
  otlpHeaders: null,
  otlpProtocol: "http/json",
  otlpTimeoutMs: 10_000,
  otelServiceName: "skyhook",
  otelResourceAttributes: {},
  otelSampler: "always_on",
  otelSamplerRatio: 1,
};

/** A tracer, and what it counts and logs. */
async function tracerWith(changes: Partial<TracingSettings>) {
  const counts = { exported: 0, dropped: 0, rejected: 0 };
  const logged: string[] = [];
  const note = (first: unknown, message?: string) => void logged.push(message ?? String(first));
  const tracer = await tracing(
    { ...settings, ...changes },
    {
      now: () => 1_763_716_364_000,
      count: (outcome, spans) => (counts[outcome] += spans),
      log: {
        debug() {},
        error() {},
        info: (message: unknown) => void logged.push(String(message)),
        warn: note,
      },
    },
  );
  if (tracer === null) throw new Error("Tracing is off");
  const endSpans = (count: number) => {
    for (let number = 0; number < count; number += 1) {
      tracer.start(String(number), { parent: null }).end();
    }
  };
  return { tracer, counts, logged, endSpans };
}

test.each([
  ["http/json", "application/json", 0],
  ["http/protobuf", "application/x-protobuf", 0],
  ["grpc", "application/json", 1],
])("by %s, traces are sent as %s", async (otlpProtocol, type, warnings) => {
  const collector = collectorThat(() => new Response());
  const made = await tracerWith({ otlpEndpoint: collector.url, otlpProtocol });
  made.endSpans(3);
  await made.tracer.stop(1_000);
  expect(made.counts).toEqual({ exported: 3, dropped: 0, rejected: 0 });
  expect(made.logged).toHaveLength(warnings);
  const [post] = collector.posts;
  expect(post?.headers["content-type"]).toBe(type);
  // In both, names are UTF-8. In protobuf, the first byte is the tag of `resource_spans`.
  expect(post?.body).toContain("service.name");
  expect(post?.body.startsWith("\n")).toBe(type === "application/x-protobuf");
});

describe("spans", () => {
  test("are exported in batches, in order, one request at a time", async () => {
    let inFlight = 0;
    let most = 0;
    const collector = collectorThat(async () => {
      most = Math.max(most, (inFlight += 1));
      await Bun.sleep(5);
      inFlight -= 1;
      return Response.json({});
    });
    const { tracer, counts, endSpans } = await tracerWith({ otlpEndpoint: collector.url });
    endSpans(1_300);
    await until(() => counts.exported >= 2 * maxBatch);
    await tracer.stop(5_000);
    expect(collector.posts.map(({ spans }) => spans.length)).toEqual([maxBatch, maxBatch, 276]);
    expect(collector.spans().map(({ name }) => Number(name))).toEqual([...Array(1_300).keys()]);
    expect(counts).toEqual({ exported: 1_300, dropped: 0, rejected: 0 });
    expect(most).toBe(1);
  });

  test("are encoded as OTLP JSON", async () => {
    const collector = collectorThat(() => Response.json({}));
    const { tracer } = await tracerWith({
      otlpEndpoint: `${collector.url}/`,
      otelServiceName: "s",
      otelResourceAttributes: { "deployment.environment.name": "staging", "service.name": "lost" },
    });
    const parent = {
      traceId: "a".repeat(32),
      spanId: "c".repeat(16),
      sampled: true,
      state: "vendor=1",
    };
    const attributes = { text: "a", whole: 7, part: 0.5, yes: true };
    const span = tracer.start("GET /x", { kind: "server", parent, attributes });
    span.end({ type: "500", isServerError: true });
    span.end();
    tracer.start("x", { parent: null }).end({ type: "401", isServerError: false });
    await tracer.stop(5_000);
    const [posted] = collector.posts;
    expect(posted).toMatchObject({
      path: "/v1/traces",
      resource: {
        "service.name": "s",
        "deployment.environment.name": "staging",
        "telemetry.sdk.name": "opentelemetry",
        "process.runtime.name": "bun",
      },
    });
    expect(JSON.parse(posted?.body ?? "")).toMatchObject({
      resourceSpans: [
        {
          scopeSpans: [
            {
              scope: { name: "skyhook" },
              spans: [
                {
                  traceId: parent.traceId,
                  spanId: span.context.spanId,
                  traceState: "vendor=1",
                  parentSpanId: parent.spanId,
                  name: "GET /x",
                  kind: 2,
                  startTimeUnixNano: "1763716364000000000",
                  attributes: [
                    { key: "text", value: { stringValue: "a" } },
                    { key: "whole", value: { intValue: 7 } },
                    { key: "part", value: { doubleValue: 0.5 } },
                    { key: "yes", value: { boolValue: true } },
                    { key: "error.type", value: { stringValue: "500" } },
                  ],
                  status: { code: 2 },
                },
                { name: "x", kind: 1, status: { code: 0 } },
              ],
            },
          ],
        },
      ],
    });
  });
});

describe("a collector", () => {
  test("that hangs leaves a bounded queue; further spans are dropped and counted", async () => {
    const collector = collectorThat(never);
    const { tracer, counts, endSpans } = await tracerWith({
      otlpEndpoint: collector.url,
      // Longer than a test may take: the stop does not wait for the attempt.
      otlpTimeoutMs: 600_000,
    });
    endSpans(maxPending + 100);
    await until(() => collector.posts.length === 1);
    expect(counts).toEqual({ exported: 0, dropped: 100, rejected: 0 });
    await tracer.stop(100);
    expect(counts).toEqual({ exported: 0, dropped: maxPending + 100, rejected: 0 });
    // Spans that end after the stop are dropped too.
    endSpans(1);
    expect(counts.dropped).toBe(maxPending + 101);
  });

  test("that hangs times out; the next batch is exported", async () => {
    const collector = collectorThat((number) => (number === 1 ? never() : Response.json({})));
    const { tracer, counts, logged, endSpans } = await tracerWith({
      otlpEndpoint: collector.url,
      otlpTimeoutMs: 1_000,
    });
    endSpans(2 * maxBatch);
    await until(() => counts.exported === maxBatch);
    expect(counts).toEqual({ exported: maxBatch, dropped: maxBatch, rejected: 0 });
    expect(logged).toEqual([
      "failed to export traces; their spans are dropped",
      "resumed exporting traces",
    ]);
    await tracer.stop(100);
  });

  test("that responds with 503 receives the same spans again", async () => {
    const collector = collectorThat((number) =>
      number === 1 ? new Response("", { status: 503 }) : Response.json({}),
    );
    const { tracer, counts, logged, endSpans } = await tracerWith({ otlpEndpoint: collector.url });
    endSpans(maxBatch);
    await until(() => counts.exported === maxBatch);
    expect(collector.posts).toHaveLength(2);
    expect(collector.posts[1]?.body).toBe(collector.posts[0]?.body ?? "");
    expect(logged).toEqual([]);
    await tracer.stop(100);
  });

  test("that is unreachable is logged once", async () => {
    const { tracer, counts, logged, endSpans } = await tracerWith({
      otlpEndpoint: await nowhere(),
      otlpTimeoutMs: 200,
    });
    endSpans(3 * maxBatch);
    await until(() => counts.dropped === 3 * maxBatch);
    await tracer.stop(1_000);
    expect(counts).toEqual({ exported: 0, dropped: 3 * maxBatch, rejected: 0 });
    expect(logged).toEqual(["failed to export traces; their spans are dropped"]);
  });

  test.each([400, 401, 404, 302])(
    "that responds with %d rejects the spans, which are not sent again",
    async (status) => {
      const collector = collectorThat(
        () => new Response("no", { status, headers: { location: "/" } }),
      );
      const { tracer, counts, logged, endSpans } = await tracerWith({
        otlpEndpoint: collector.url,
      });
      endSpans(3);
      await tracer.stop(5_000);
      expect(counts).toEqual({ exported: 0, dropped: 0, rejected: 3 });
      expect(collector.posts).toHaveLength(1);
      expect(logged).toEqual(["collector rejected traces"]);
    },
  );

  test("that rejects some spans of a batch has them counted as rejected", async () => {
    const answer = { partialSuccess: { rejectedSpans: "2", errorMessage: "too old" } };
    const { url } = collectorThat(() => Response.json(answer));
    const { tracer, counts, logged, endSpans } = await tracerWith({ otlpEndpoint: url });
    endSpans(5);
    await tracer.stop(5_000);
    expect(counts).toEqual({ exported: 3, dropped: 0, rejected: 2 });
    expect(logged).toEqual(["collector rejected some spans"]);
  });
});

describe("samplers", () => {
  const parent = (sampled: boolean) => ({
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId: "b7ad6b7169203331",
    sampled,
    state: null,
  });

  test.each([
    ["always_on", [true, true, true]],
    ["always_off", [false, false, false]],
    ["traceidratio", [false, false, false]],
    ["parentbased_always_on", [true, false, true]],
    ["parentbased_always_off", [true, false, false]],
    ["parentbased_traceidratio", [true, false, false]],
  ] as const)("%s", async (otelSampler, expected) => {
    const { tracer } = await tracerWith({ otelSampler, otelSamplerRatio: 0 });
    const sampled = [parent(true), parent(false), null].map(
      (above) => tracer.start("x", { parent: above }).context.sampled,
    );
    expect(sampled).toEqual([...expected]);
    expect(samplerNames).toContain(otelSampler);
  });

  test("by ratio sample that ratio of traces, chosen by trace id", async () => {
    const { tracer } = await tracerWith({ otelSampler: "traceidratio", otelSamplerRatio: 0.25 });
    const more = await tracerWith({ otelSampler: "traceidratio", otelSamplerRatio: 0.5 });
    const taken = Array.from(
      { length: 4_000 },
      () => tracer.start("x", { parent: null }).context,
    ).filter(({ sampled }) => sampled);
    // Six standard deviations.
    expect(Math.abs(taken.length - 1_000)).toBeLessThan(165);
    for (const context of taken) {
      expect(more.tracer.start("y", { parent: context }).context.sampled).toBe(true);
    }
  });
});

describe("the service", () => {
  const body = (id: number) =>
    `{"event_name":"item:completed","event_data":{"id":"${id}","content":"Mow"}}`;

  test.each([
    ["is unreachable", nowhere],
    ["hangs", async () => collectorThat(never).url],
    [
      "sends malformed responses",
      async () => collectorThat(() => new Response("{{", { status: 500 })).url,
    ],
  ])("loses no delivery while the collector %s", async (_, collectorUrl) => {
    const app = await startApp({ OTEL_EXPORTER_OTLP_ENDPOINT: await collectorUrl() });
    ends.push(() => app.stop());
    // Four spans per delivery overflow the queue.
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
