import { expect, test } from "bun:test";

import { systemClock } from "../../../src/base/clock.ts";
import { signed, testSecret } from "../../support/app.ts";
import { testCollector } from "../../support/collector.ts";
import { never } from "../../support/gateway.ts";
import { resources } from "../../support/resources.ts";

const taken = resources();

const traceId = "0af7651916cd43dd8448eb211c80319c";
const sample = '{"event_name":"item:completed","event_data":{"id":"7","content":"Mow"}}';

async function runAgainst(collectorUrl: string) {
  const server = await taken.serve({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl,
      TASK_TRACKER_WEBHOOK_SECRET: testSecret("task_tracker"),
      LOG_FORMAT: "json",
    },
  });
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
  const init = signed("task_tracker", sample, systemClock, { headers });
  const response = await fetch(`${server.url}/webhooks/task_tracker`, init);
  return { server, status: response.status };
}

test("a stop exports the pending spans, and the log has their ids", async () => {
  const collector = testCollector();
  taken.ends.push(() => collector.stop());
  const { server, status } = await runAgainst(collector.url);
  expect(status).toBe(200);
  // Nothing is exported yet so soon after the start. The stop exports the spans.
  expect(await server.stop()).toBe(0);
  const store = collector.spans().find(({ name }) => name === "webhook store");
  expect(store?.traceId).toBe(traceId);
  const entry = server
    .log()
    .split("\n")
    .find((line) => line.includes("webhook accepted"));
  expect(JSON.parse(entry ?? "")).toMatchObject({ trace_id: traceId, span_id: store?.spanId });
  const started = server
    .log()
    .split("\n")
    .find((line) => line.includes("skyhook serves"));
  expect(started).not.toContain("trace_id");
}, 30_000);

test("a hanging collector does not prevent the service from stopping", async () => {
  const collector = testCollector(never);
  taken.ends.push(() => collector.stop());
  const { server, status } = await runAgainst(collector.url);
  expect(status).toBe(200);
  expect(await server.stop()).toBe(0);
  await server.printed("stopped");
}, 30_000);
