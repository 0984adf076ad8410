import { describe, expect, test } from "bun:test";

import { createMetrics } from "../../src/telemetry/metrics.ts";
import { startApp, type TestApp, until } from "../support/app.ts";
import { metricsIn, valueOf } from "../support/exposition.ts";
import { postQuery } from "../support/graphql.ts";
import { resources } from "../support/resources.ts";
import { appPerTest } from "../support/running-app.ts";

const app = appPerTest();
const taken = resources();

const scrape = async (of: TestApp = app) => (await of.fetch("/metrics")).text();

describe("metrics", () => {
  test("follow Prometheus' conventions", async () => {
    await app.deliverSample("task_tracker", "task.completed");
    const metrics = metricsIn(await scrape());
    expect(metrics.size).toBeGreaterThanOrEqual(30);
    for (const [name, { type, help, labels }] of metrics) {
      expect(name).toMatch(/^(skyhook|process)_[a-z_]+$/);
      expect(help).toMatch(/^[1A-Z].*[^.]$/);
      expect(name.endsWith("_total")).toBe(type === "counter");
      if (type === "histogram") expect(name).toMatch(/_(seconds|transactions)$/);
      expect(name).not.toMatch(/_(ms|milliseconds|minutes|kb|mb|percent)(_|$)/);
      for (const label of labels) expect(label).toMatch(/^[a-z_]+$/);
    }
  });

  test("include registered providers from the start, at 0", async () => {
    const text = await scrape();
    for (const verdict of ["accepted", "rejected", "unavailable"]) {
      const series = `skyhook_webhook_receipts_total{provider="code_host",verdict="${verdict}"}`;
      expect(text).toContain(`${series} 0\n`);
    }
  });

  test("count requests other than webhook deliveries by route pattern and status class", async () => {
    const requests: readonly (readonly [string, RequestInit])[] = [
      ["/v1/api/flights/7?a=b", {}],
      ["/v1/api/flights/8", {}],
      ["/v1/api/flights/8", { method: "DELETE" }],
      ["/livez", { method: "HEAD" }],
      ["/livez", { method: "PROPFIND" }],
      ["/nowhere", {}],
      ["/v1/api/flights/7/8", {}],
      ["/webhooks/nobody", { method: "POST" }],
    ];
    for (const [path, init] of requests) await app.fetch(path, init);
    await app.deliverSample("task_tracker", "task.completed");
    await app.as("user", "/graphql", postQuery("{ __typename }"));
    const text = await scrape();
    const counted = text
      .split("\n")
      .filter((line) => line.startsWith("skyhook_http_requests_total"));
    expect(counted).toEqual([
      'skyhook_http_requests_total{method="GET",route="/v1/api/flights/:id",status="4xx"} 2',
      'skyhook_http_requests_total{method="DELETE",route="/v1/api/flights/:id",status="4xx"} 1',
      'skyhook_http_requests_total{method="HEAD",route="/livez",status="2xx"} 1',
      'skyhook_http_requests_total{method="_OTHER",route="/livez",status="4xx"} 1',
      'skyhook_http_requests_total{method="GET",route="none",status="4xx"} 2',
      'skyhook_http_requests_total{method="POST",route="/graphql",status="2xx"} 1',
    ]);
    const durations = 'skyhook_http_request_duration_seconds_count{method="GET",route="none"}';
    expect(valueOf(text, durations)).toBe(2);
    // The scrape itself.
    expect(valueOf(text, "skyhook_http_requests_in_flight")).toBe(1);
  });

  test("create no time series from names that clients choose", async () => {
    for (let number = 0; number < 200; number += 1) {
      await app.fetch(`/x${number}/y?${number}`, {
        method: number % 2 === 0 ? "PROPFIND" : "MKCOL",
      });
      await app.fetch(`/webhooks/p${number}`, { method: "POST" });
    }
    const lines = (await scrape()).split("\n");
    expect(lines.filter((line) => line.startsWith("skyhook_http_requests_total"))).toHaveLength(1);
  });

  test("count server errors as 5xx and are available without the database", async () => {
    const other = await startApp();
    await other.services.storage.close();
    await other.deliverSample("task_tracker", "task.completed");
    await other.as("user", "/v1/users");
    const text = await scrape(other);
    await other.stop();
    expect(text).toContain(
      'skyhook_webhook_receipts_total{provider="task_tracker",verdict="unavailable"} 1\n',
    );
    expect(text).toContain(
      'skyhook_http_requests_total{method="GET",route="/v1/users",status="5xx"} 1\n',
    );
    // Gauges that need the database are omitted, so that they do not report outdated values.
    expect(text).not.toMatch(/^skyhook_outbox_/m);
  });

  test("count the transactions of each commit and time the commits", async () => {
    const before = await scrape();
    await Promise.all(
      Array.from({ length: 6 }, () => app.deliverSample("task_tracker", "task.completed")),
    );
    const after = await scrape();
    const grew = (series: string) => valueOf(after, series) - valueOf(before, series);
    expect(grew("skyhook_storage_commit_transactions_count")).toBe(1);
    expect(grew("skyhook_storage_commit_transactions_sum")).toBe(6);
    expect(grew("skyhook_storage_commit_duration_seconds_count")).toBe(1);
    expect(grew("skyhook_storage_commit_duration_seconds_sum")).toBeGreaterThan(0);
  });

  test("report a blocked event loop", async () => {
    const onTime = 'skyhook_event_loop_lag_seconds_bucket{le="0.25"}';
    const all = "skyhook_event_loop_lag_seconds_count";
    // A timer that is already running fires late. The next one starts only after it.
    Bun.sleepSync(600);
    await until(async () => {
      const text = await scrape();
      return valueOf(text, all) > valueOf(text, onTime);
    });
  });

  test("describe the process and the disk of the database", async () => {
    const onDisk = await taken.app({ DATABASE_URL: `sqlite:${taken.newFile()}` });
    await scrape(onDisk);
    const text = await scrape(onDisk);
    const { user, system } = process.cpuUsage();
    const value = (series: string) => valueOf(text, series);
    expect(value("process_start_time_seconds") * 1_000).toBeCloseTo(performance.timeOrigin, -1);
    expect(value("process_cpu_seconds_total")).toBeGreaterThan(0);
    expect(value("process_cpu_seconds_total")).toBeLessThanOrEqual((user + system) / 1e6);
    expect(value("process_resident_memory_bytes")).toBeGreaterThan(2 ** 20);
    expect(value("skyhook_database_size_bytes")).toBeGreaterThan(50_000);
    const free = value("skyhook_database_disk_free_bytes");
    expect(free).toBeGreaterThan(0);
    expect(value("skyhook_database_disk_size_bytes")).toBeGreaterThan(free);
    if (process.platform === "linux") {
      expect(value("process_open_fds")).toBeGreaterThan(3);
      expect(value("process_max_fds")).toBeGreaterThan(value("process_open_fds"));
    }
    expect(text).toMatch(/^skyhook_build_info\{version="[^"]+",bun_version="[^"]+"\} 1$/m);
    expect(await scrape()).not.toMatch(/^skyhook_database_/m);
  });
});

test("concurrent scrapes refresh the metrics once", async () => {
  const metrics = createMetrics();
  const refreshes = metrics.counter({ name: "refreshes_total", help: "Refreshes" });
  metrics.onScrape(async () => {
    refreshes.inc();
    await Promise.resolve();
  });
  const texts = await Promise.all(Array.from({ length: 5 }, () => metrics.scrape()));
  texts.push(await metrics.scrape());
  const counts = texts.map((text) => /^refreshes_total (\d+)$/m.exec(text)?.[1]);
  expect(counts).toEqual(["1", "1", "1", "1", "1", "2"]);
});
