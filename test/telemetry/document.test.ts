import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { startApp, until } from "../support/app.ts";
import { metricsIn } from "../support/exposition.ts";

const root = join(import.meta.dir, "../..");
const file = join(root, "docs/observability.md");
const document = readFileSync(file, "utf8");

describe("docs/observability.md", () => {
  test("lists every metric of /metrics but the usual ones of a process", async () => {
    const app = await startApp({
      OPERATOR_GATEWAY_URL: "http://127.0.0.1:1024/",
      HEARTBEAT_URL: "http://127.0.0.1:1024/",
      OPERATOR_GATEWAY_SECRET: `whsec_${Buffer.alloc(24).toString("base64")}`,
    });
    await app.deliverSample("task_tracker", "task.completed");
    await app.fetch("/livez");
    const attempted = /^skyhook_notification_attempts_total\{/m;
    await until(async () => attempted.test(await app.services.metrics.scrape()));
    const metrics = metricsIn(await (await app.fetch("/metrics")).text());
    await app.stop();
    const rows = [...metrics]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .filter(([name]) => !name.startsWith("process_"))
      .map(([name, { labels, help }]) => {
        const named = [...labels].map((label) => `\`${label}\``).join(", ");
        return `| \`${name}\` | ${named} | ${help} |`;
      });
    const table = ["| metric | labels | meaning |", "| --- | --- | --- |", ...rows];
    const wanted = document.replace(
      /<!-- metrics -->.*<!-- \/metrics -->/s,
      () => `<!-- metrics -->\n${table.join("\n")}\n<!-- /metrics -->`,
    );
    // `UPDATE_DOCS=1 bun test test/telemetry/document.test.ts` updates the table.
    if (process.env["UPDATE_DOCS"] === "1") writeFileSync(file, wanted);
    else expect(document).toBe(wanted);
  });

  test("lists exactly the fields that the code logs", () => {
    const [, table = ""] = /<!-- log fields -->(.*)<!-- \/log fields -->/s.exec(document) ?? [];
    const documented = [...table.matchAll(/^\| (`.+?) \|/gm)].flatMap(([, cell = ""]) =>
      [...cell.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name),
    );
    const always = ["level", "time", "msg", "trace_id", "span_id"];
    expect(documented.toSorted()).toEqual([...new Set([...always, ...loggedFields()])].toSorted());
  });
});

/** The field names in all calls of the log in the source code. */
function loggedFields(): string[] {
  const files = [...new Bun.Glob("**/*.ts").scanSync(join(root, "src"))];
  return files.flatMap((name) => {
    const source = readFileSync(join(root, "src", name), "utf8");
    const calls = source.matchAll(/\blog\.(?:debug|info|warn|error)\(\s*(\{[^}]*\}|\w+)/g);
    return [...calls].flatMap(([, fields = ""]) => {
      const literal = fields.startsWith("{")
        ? fields
        : (new RegExp(`const ${fields} = (\\{[^}]*\\})`).exec(source)?.[1] ?? "");
      return [...literal.matchAll(/[{,]\s*(\w+)/g)].map(([, field = ""]) => field);
    });
  });
}
