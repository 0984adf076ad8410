import { describe, expect, test } from "bun:test";

import { Webhook } from "standardwebhooks";

import { json, startApp, type TestApp, until } from "../support/app.ts";
import { manualClock } from "../support/clock.ts";
import { type CollectedSpan, type TestCollector, testCollector } from "../support/collector.ts";
import { addFlight, bookingBody, post } from "../support/flights.ts";
import { gatewayEnv, gatewaySecret } from "../support/gateway.ts";
import { postQuery } from "../support/graphql.ts";
import { resources } from "../support/resources.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const senderSpan = "b7ad6b7169203331";
/** The status of a span without a server error (OTLP, `Status.StatusCode`). */
const unset = 0;
const traced = { traceparent: `00-${traceId}-${senderSpan}-01`, tracestate: "vendor=1" };

const taken = resources();

function collector(): TestCollector {
  const made = testCollector();
  taken.ends.push(() => made.stop());
  return made;
}

/** Runs `work` against the service, stops the service and returns the spans that the collector received. */
async function spansOf(
  work: (app: TestApp) => Promise<unknown>,
  env: Record<string, string> = {},
): Promise<readonly CollectedSpan[]> {
  const collects = collector();
  const app = await startApp({ OTEL_EXPORTER_OTLP_ENDPOINT: collects.url, ...env });
  try {
    await work(app);
  } finally {
    await app.stop();
  }
  return collects.spans();
}

function one(spans: readonly CollectedSpan[], name: string): CollectedSpan {
  const found = spans.filter((span) => span.name === name);
  if (found[0] === undefined || found.length > 1) {
    throw new Error(`${found.length} spans "${name}" in ${spans.map((span) => span.name).join()}`);
  }
  return found[0];
}

const sample = '{"event_name":"item:completed","event_data":{"id":"7","content":"Mow"}}';
const deliver = (app: TestApp, headers: Record<string, string> = traced) =>
  app.deliver("task_tracker", sample, { headers });

describe("the trace of a webhook", () => {
  test("continues the sender's trace with spans for verify, store and commit", async () => {
    let answer: Record<string, unknown> = {};
    const spans = await spansOf(async (app) => {
      answer = await json(await deliver(app));
    });
    const server = one(spans, "POST /webhooks/:provider");
    expect(server).toMatchObject({
      traceId,
      parentSpanId: senderSpan,
      traceState: "vendor=1",
      kind: 2,
      status: expect.not.objectContaining({ code: 2 }),
      attributes: {
        "http.request.method": "POST",
        "http.route": "/webhooks/:provider",
        "http.response.status_code": 200,
        "skyhook.provider": "task_tracker",
        "skyhook.webhook.status": "accepted",
        "cloudevents.event_id": answer["id"],
      },
    });
    const verify = one(spans, "webhook verify");
    const store = one(spans, "webhook store");
    const commit = one(spans, "storage commit");
    expect([verify, store]).toMatchObject([
      { traceId, parentSpanId: server.spanId, kind: 1 },
      { traceId, parentSpanId: server.spanId, kind: 1 },
    ]);
    expect(commit).toMatchObject({ traceId, parentSpanId: store.spanId });
    expect(commit.attributes["skyhook.storage.units"]).toBe(1);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(4);
  });

  test("has nested times, from the clock of the service", async () => {
    const spans = await spansOf((app) => deliver(app));
    const server = one(spans, "POST /webhooks/:provider");
    const commit = one(spans, "storage commit");
    const times = [
      server.startTimeUnixNano,
      commit.startTimeUnixNano,
      commit.endTimeUnixNano,
      server.endTimeUnixNano,
    ];
    // The strings have equal lengths, so that they sort by time.
    expect(times.toSorted()).toEqual(times);
    expect(server.startTimeUnixNano).toBe(`${manualClock().now()}000000`);
  });

  test("has the number of transactions that shared the commit", async () => {
    const spans = await spansOf((app) =>
      Promise.all(
        Array.from({ length: 5 }, (_, index) =>
          app.deliver("task_tracker", sample.replace('"7"', `"${index}"`)),
        ),
      ),
    );
    const commits = spans.filter(({ name }) => name === "storage commit");
    expect(commits.map(({ attributes }) => attributes["skyhook.storage.units"])).toEqual(
      Array.from({ length: 5 }, () => 5),
    );
    expect(new Set(commits.map((span) => span.traceId)).size).toBe(5);
  });

  test("records a rejection without an error status", async () => {
    const spans = await spansOf((app) =>
      app.deliver("task_tracker", sample, { secret: "another" }),
    );
    const server = one(spans, "POST /webhooks/:provider");
    expect(server.status.code).toBe(unset);
    expect(server.attributes).toMatchObject({ "http.response.status_code": 401 });
    const verify = one(spans, "webhook verify");
    expect(verify.status.code).toBe(unset);
    expect(verify.attributes).toEqual({ "error.type": "invalid-signature" });
  });

  test("records a server error", async () => {
    const spans = await spansOf(async (app) => {
      await app.services.storage.close();
      await deliver(app);
    });
    expect(one(spans, "POST /webhooks/:provider")).toMatchObject({
      status: { code: 2 },
      attributes: { "http.response.status_code": 503, "error.type": "503" },
    });
    expect(one(spans, "webhook store")).toMatchObject({
      status: { code: 2 },
      attributes: { "error.type": "unavailable" },
    });
  });

  test.each(["", "00-zz", `00-${"0".repeat(32)}-${senderSpan}-01`])(
    "starts a new trace if the sender's traceparent is malformed: %p",
    async (traceparent) => {
      const spans = await spansOf((app) => deliver(app, { traceparent, tracestate: "vendor=1" }));
      const server = one(spans, "POST /webhooks/:provider");
      expect(server.traceId).toMatch(/^[0-9a-f]{32}$/);
      expect(server).not.toHaveProperty("parentSpanId");
      expect(server).not.toHaveProperty("traceState");
    },
  );
});

describe("the trace of a delivery to the operator gateway", () => {
  const attempted = (app: TestApp) =>
    until(async () =>
      /^skyhook_notification_attempts_total\{.*\} 1$/m.test(await app.services.metrics.scrape()),
    );

  test("is the trace of the webhook, in header, CloudEvent and span", async () => {
    const gateway = taken.gateway(() => new Response());
    const spans = await spansOf(async (app) => {
      await deliver(app);
      await attempted(app);
    }, gateway.env);
    const server = one(spans, "POST /webhooks/:provider");
    const delivery = one(spans, "notification delivery");
    expect(delivery).toMatchObject({
      traceId,
      parentSpanId: server.spanId,
      kind: 3,
      status: expect.not.objectContaining({ code: 2 }),
      attributes: {
        "http.response.status_code": 200,
        "http.request.resend_count": 0,
        "cloudevents.event_id": server.attributes["cloudevents.event_id"],
      },
    });
    const [received] = gateway.received;
    expect(received?.headers).toMatchObject({
      traceparent: `00-${traceId}-${delivery.spanId}-01`,
      tracestate: "vendor=1",
    });
    expect(JSON.parse(received?.body ?? "")).toMatchObject({
      traceparent: `00-${traceId}-${server.spanId}-01`,
      tracestate: "vendor=1",
    });
  });

  test("is the same after an error and a restart, and retries stay signed", async () => {
    const database = { DATABASE_URL: `sqlite:${taken.newFile()}` };
    let status = 500;
    const gateway = taken.gateway(() => new Response(null, { status }));
    const first = await spansOf(
      async (app) => {
        await deliver(app);
        await attempted(app);
      },
      { ...gateway.env, ...database },
    );
    expect(one(first, "notification delivery")).toMatchObject({
      status: { code: 2 },
      attributes: { "error.type": "500" },
    });
    status = 204;
    const second = await spansOf(
      async (app) => {
        // The retry is due; once the lease of an attempt ended, it would be made again.
        app.clock.advance(10_000);
        await until(() => gateway.received.length === 2);
        await attempted(app);
      },
      { ...gateway.env, ...database },
    );
    const server = one(first, "POST /webhooks/:provider");
    const retry = one(second, "notification delivery");
    expect(retry).toMatchObject({
      traceId,
      parentSpanId: server.spanId,
      attributes: { "http.request.resend_count": 1 },
    });
    const [failed, succeeded] = gateway.received;
    expect(succeeded?.headers["traceparent"]).toBe(`00-${traceId}-${retry.spanId}-01`);
    expect(succeeded?.body).toBe(failed?.body ?? "");
    const library = new Webhook(gatewaySecret);
    const at = Number(succeeded?.headers["webhook-timestamp"]);
    const now = Date.now;
    Date.now = () => at * 1_000;
    try {
      library.verify(succeeded?.body ?? "", succeeded?.headers ?? {});
    } finally {
      Date.now = now;
    }
  });

  test("propagates that a trace is not sampled, and exports nothing", async () => {
    const gateway = taken.gateway(() => new Response());
    const spans = await spansOf(async (app) => {
      await deliver(app, { ...traced, traceparent: traced.traceparent.replace(/01$/, "00") });
      await attempted(app);
    }, gateway.env);
    expect(spans).toEqual([]);
    expect(gateway.received[0]?.headers["traceparent"]).toMatch(
      new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`),
    );
  });

  test("is absent if tracing is off, even if the sender sends one", async () => {
    const gateway = taken.gateway(() => new Response());
    const app = await taken.app(gateway.env);
    await deliver(app);
    await attempted(app);
    expect(app.services.tracer).toBeNull();
    expect(gateway.received[0]?.headers).not.toHaveProperty("traceparent");
    expect(JSON.parse(gateway.received[0]?.body ?? "")).not.toHaveProperty("traceparent");
  });
});

describe("the trace of the API", () => {
  test("includes a REST booking, from the client to the operator gateway", async () => {
    const gateway = taken.gateway(() => new Response());
    const spans = await spansOf(async (app) => {
      const flight = await addFlight(app);
      const made = await app.as(
        "user",
        "/v1/api/bookings",
        post(bookingBody(flight.id, 2), traced),
      );
      expect(made.status).toBe(201);
      await until(() => gateway.received.length === 1);
    }, gateway.env);
    const server = one(spans, "POST /v1/api/bookings");
    const booking = one(spans, "booking create");
    expect(server).toMatchObject({ traceId, parentSpanId: senderSpan });
    expect(booking).toMatchObject({ traceId, parentSpanId: server.spanId });
    expect(booking.attributes).toEqual({ "skyhook.booking.seats": 2 });
    expect(one(spans, "storage commit")).toMatchObject({ traceId, parentSpanId: booking.spanId });
    expect(one(spans, "notification delivery")).toMatchObject({
      traceId,
      parentSpanId: booking.spanId,
    });
  });

  test("includes a GraphQL booking", async () => {
    const mutation = `mutation ($input: CreateBookingInput!) { createBooking(input: $input) { bookingId } }`;
    const spans = await spansOf(async (app) => {
      const flight = await addFlight(app);
      const query = postQuery(mutation, { input: bookingBody(flight.id) });
      const headers = { ...Object.fromEntries(new Headers(query.headers)), ...traced };
      const answer = await app.as("user", "/graphql", { ...query, headers });
      expect(await json(answer)).toMatchObject({ data: { createBooking: {} } });
    });
    const server = one(spans, "POST /graphql");
    expect(server).toMatchObject({ traceId, parentSpanId: senderSpan });
    expect(one(spans, "booking create")).toMatchObject({ traceId, parentSpanId: server.spanId });
  });

  test("names spans by method and route pattern, or by method for unknown routes", async () => {
    const spans = await spansOf(async (app) => {
      for (const path of ["/v1/api/flights/77?x=1", "/livez", "/wp-login.php"]) {
        await app.fetch(path);
      }
      await app.fetch("/livez", { method: "PROPFIND" });
    });
    expect(spans.map(({ name }) => name)).toEqual([
      "GET /v1/api/flights/:id",
      "GET /livez",
      "GET",
      "_OTHER /livez",
    ]);
  });
});

test("exports no secrets and no personal data", async () => {
  const gateway = taken.gateway(() => new Response(null, { status: 500, statusText: "sesame" }));
  const collects = collector();
  const app = await startApp({
    OTEL_EXPORTER_OTLP_ENDPOINT: collects.url,
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Basic%20sesame",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=staging,service.name=lost",
    ...gatewayEnv(`${gateway.url}?key=sesame`),
  });
  const body = '{"event_name":"sesame","event_data":{"id":"sesame","content":"sesame"}}';
  await app.deliver("task_tracker", body, {
    headers: { cookie: "sesame", "user-agent": "sesame", "x-request-id": "sesame" },
  });
  await app.fetch("/webhooks/sesame?q=sesame", { method: "POST", body: "sesame" });
  await app.as("admin", "/v1/users?name=sesame&email=sesame");
  await app.as("user", "/v1/api/bookings/sesame");
  await app.as("user", "/graphql", postQuery("query sesame { sesame }"));
  await app.fetch("/v1/api/flights?origin=sesame", { headers: { authorization: "Bearer sesame" } });
  const flight = await addFlight(app);
  const booking = bookingBody(flight.id);
  await app.as("user", "/v1/api/bookings", post(booking), "sesame");
  await until(() => gateway.received.length > 0);
  await app.stop();
  const [first] = collects.posts;
  expect(collects.spans().length).toBeGreaterThan(12);
  const exported = collects.posts.map((entry) => entry.body).join("\n");
  for (const secret of ["sesame", "Lovelace", "ada@example.com", gatewaySecret, "test-secret"]) {
    expect(exported).not.toContain(secret);
  }
  expect(first).toMatchObject({
    path: "/v1/traces",
    headers: { "content-type": "application/json", authorization: "Basic sesame" },
    resource: { "service.name": "skyhook", "deployment.environment.name": "staging" },
  });
});
