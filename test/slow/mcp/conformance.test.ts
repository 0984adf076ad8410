import { beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";

import { startApp } from "../../support/app.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";

// The official conformance suite of the Model Context Protocol. Most of its scenarios call tools of a test
// server, so all checks are required only of those that apply to every server.

const suite = Bun.resolveSync("@modelcontextprotocol/conformance/dist/index.js", import.meta.dir);

/** The scenarios that apply to each revision, besides these. */
const common = ["tools-list", "resources-list", "prompts-list", "dns-rebinding-protection"];
const applicable: readonly (readonly [revision: string, scenarios: readonly string[]])[] = [
  ["2025-11-25", ["server-initialize", "ping"]],
  [
    "2026-07-28",
    [
      "server-stateless",
      "server-sse-multiple-streams",
      "sep-2164-resource-not-found",
      "caching",
      "http-header-validation",
    ],
  ],
];

/** The others, and why they do not apply. */
const others: readonly (readonly [RegExp, reason: string])[] = [
  [/^(?:tools-call|elicitation|input-required-result|json-schema)-/, "call tools of a test server"],
  [/^(?:resources-(?:templates-)?read|prompts-get)/, "read resources and prompts of a test server"],
  [/^http-custom-header-/, "needs a tool with arguments in headers"],
  [/^(?:logging-set-level|completion-complete|resources-(?:un)?subscribe)$/, "not declared"],
  [/^tasks-/, "an extension that Skyhook does not declare"],
  [/^server-(?:session-lifecycle|sse-(?:polling|multiple-streams))$/, "need sessions"],
];

/** Checks of `server-stateless` that need tools of a test server, or streams, which Skyhook refuses. */
const untestable: readonly string[] = [
  "server-rejects-undeclared-capability",
  "missing-capability-http-400",
  "http-server-no-independent-requests-on-stream",
  "server-no-log-without-loglevel",
  "server-sends-subscription-ack",
  "server-tags-subscription-id",
].map((check) => `sep-2575-${check}`);

interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
}

/** The checks of each scenario that a revision requires. The suite cannot sign in, so a proxy does. */
async function checksOf(revision: string): Promise<ReadonlyMap<string, readonly Check[]>> {
  await using app = await startApp();
  const token = await app.services.tokens.mint({ id: "operator", roles: ["operator"] }, 3_600);
  using proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const headers = new Headers(request.headers);
      headers.set("authorization", `Bearer ${token}`);
      return app.app.handle(new Request(request, { headers }));
    },
  });
  const folder = temporaryFolder();
  try {
    const options = ["--url", `${proxy.url.href}mcp`, "--requirements", revision, "-o", folder];
    const command = [process.execPath, "--bun", suite, "server", ...options];
    await Bun.spawn(command, { stdio: ["ignore", "ignore", "ignore"] }).exited;
    const read = readdirSync(folder).map(async (name) => {
      const scenario = name.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, "");
      const checks: readonly Check[] = await Bun.file(join(folder, name, "checks.json")).json();
      return [scenario, checks] as const;
    });
    return new Map(await Promise.all(read));
  } finally {
    removeFolder(folder);
  }
}

describe.each(applicable)("conformance to MCP %s", (revision, scenarios) => {
  const known = [...common, ...scenarios];
  let found: ReadonlyMap<string, readonly Check[]>;
  beforeAll(async () => {
    found = await checksOf(revision);
  }, 120_000);

  test.each(known)("%s", (scenario) => {
    const checks = found.get(scenario) ?? [];
    expect(checks.filter(({ status }) => status === "SUCCESS")).not.toBeEmpty();
    const failed = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
    expect(failed.filter(({ id }) => !untestable.includes(id))).toEqual([]);
  });

  test("every other scenario has a reason not to apply", () => {
    const isKnown = (scenario: string) =>
      known.includes(scenario) || others.some(([pattern]) => pattern.test(scenario));
    expect(
      found
        .keys()
        .toArray()
        .filter((scenario) => !isKnown(scenario)),
    ).toEqual([]);
  });
});
