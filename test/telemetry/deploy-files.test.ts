import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { parser } from "@prometheus-io/lezer-promql";

import { startApp, type TestApp, until } from "../support/app.ts";
import { metricsIn } from "../support/exposition.ts";

const root = join(import.meta.dir, "../..");
const read = (file: string): unknown => {
  const text = readFileSync(join(root, file), "utf8");
  return file.endsWith(".json") ? JSON.parse(text) : Bun.YAML.parse(text);
};

/** All strings under a key, at any depth. */
function under(key: string, value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === key && typeof inner === "string" ? [inner] : under(key, inner),
  );
}

/** The metrics and labels of an expression, by Prometheus' own grammar. Throws on a syntax error. */
function namesIn(expression: string): { metrics: string[]; labels: string[] } {
  const plain = expression.replaceAll("$__rate_interval", "5m");
  const metrics: string[] = [];
  const labels: string[] = [];
  parser.parse(plain).iterate({
    enter({ type, from, to }) {
      if (type.isError) throw new Error(`At ${from}: ${plain}`);
      const text = plain.slice(from, to);
      if (type.name === "Identifier") metrics.push(text);
      if (type.name === "LabelName") labels.push(text);
    },
  });
  return { metrics, labels };
}

const dashboard = "deploy/grafana-dashboard.json";
const rules = "deploy/prometheus-rules.yaml";
const expressions = [dashboard, rules].map(
  (file) => [file, under("expr", read(file)).map(namesIn)] as const,
);

describe("files for operators", () => {
  let app: TestApp;
  let exposed: ReturnType<typeof metricsIn>;
  beforeAll(async () => {
    app = await startApp({
      OPERATOR_GATEWAY_URL: "http://127.0.0.1:1024/",
      OPERATOR_GATEWAY_SECRET: `whsec_${Buffer.alloc(24).toString("base64")}`,
    });
    await app.deliverSample("task_tracker", "task.completed");
    const attempted = /^skyhook_notification_attempts_total\{/m;
    await until(async () => attempted.test(await app.services.metrics.scrape()));
    await app.fetch("/livez");
    exposed = metricsIn(await (await app.fetch("/metrics")).text());
  });
  afterAll(() => app.stop());

  test.each(expressions)("%s uses only metrics and labels of /metrics", (_, queries) => {
    expect(queries.length).toBeGreaterThan(10);
    // Prometheus adds these labels.
    const labels = new Set(["job", "instance", "le"]);
    for (const { labels: own } of exposed.values()) for (const name of own) labels.add(name);
    const samples = [...exposed].flatMap(([name, { type }]) =>
      type === "histogram" ? ["_bucket", "_sum", "_count"].map((end) => name + end) : [name],
    );
    for (const { metrics, labels: named } of queries) {
      expect(samples).toEqual(expect.arrayContaining(metrics));
      expect([...labels]).toEqual(expect.arrayContaining(named));
    }
  });

  test("the dashboard shows every metric", () => {
    const shown = new Set(expressions[0]?.[1].flatMap(({ metrics }) => metrics));
    const missing = [...exposed.keys()].filter(
      (name) => !shown.has(name) && !shown.has(`${name}_bucket`),
    );
    expect(missing).toEqual([]);
  });

  test("the panels of the dashboard have unique ids and do not overlap", () => {
    const { panels, uid } = Object(read(dashboard));
    expect(uid).toBe("skyhook");
    const taken = new Set<string>();
    const ids = new Set<number>();
    for (const { id, title, type, datasource, gridPos, targets = [] } of panels) {
      expect(title).toBeString();
      ids.add(id);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect(taken).not.toContain(`${x} ${y}`);
          taken.add(`${x} ${y}`);
        }
      }
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      if (type === "row") continue;
      expect(datasource.uid).toBe("${datasource}");
      expect(targets).not.toBeEmpty();
    }
    expect(ids.size).toBe(panels.length);
  });

  test("the rules have descriptions and are documented", () => {
    const { groups } = Object(read(rules));
    const document = readFileSync(join(root, "docs/observability.md"), "utf8");
    for (const { alert, expr, labels, annotations } of groups[0].rules) {
      expect(alert).toMatch(/^Skyhook[A-Za-z]+$/);
      expect(expr).toBeString();
      expect(["critical", "warning", "info"]).toContain(labels.severity);
      expect(annotations.summary).toBeString();
      expect(annotations.description).toBeString();
      expect(document).toContain(`\`${alert}\``);
    }
  });

  test("a syntax error in an expression is detected", () => {
    expect(() => namesIn("sum(rate(x[5m])")).toThrow();
    expect(namesIn('sum by (a) (x{b="c"}) > 1')).toEqual({ metrics: ["x"], labels: ["a", "b"] });
  });
});
