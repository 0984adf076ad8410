import { describe, expect, test } from "bun:test";

import definitions from "@octokit/webhooks-examples";

import { at } from "../../../src/base/payload.ts";
import { codeHost } from "../../../src/inbound/providers/code_host.ts";
import {
  expectBounded,
  interpretPayload,
  notificationsOf,
  replaced,
  sampleBody,
} from "../../support/providers.ts";

describe("code_host", () => {
  const run = sampleBody(codeHost, "workflow_run.completed");
  const published = sampleBody(codeHost, "package.published");
  const sent = (event: string | null, body: unknown) =>
    interpretPayload(codeHost, body, event === null ? {} : { "X-GitHub-Event": event });

  test("includes workflow, branch, commit and repository of a failed run", () => {
    const event = sent("workflow_run", run);
    expect(event).toMatchObject({
      title: "CI failed on main: Fix cart (acme/web #163)",
      actor: "ada",
      data: { conclusion: "failure", commit: "3f2c9b7e5d1a", repository: "acme/web" },
    });
    expect(notificationsOf(codeHost, event)).toMatchObject([
      { severity: "error", text: "by ada · 3f2c9b7e5d1a · push" },
    ]);
  });

  test.each([
    ["success", "CI passed", "success"],
    ["failure", "CI failed", "error"],
    ["timed_out", "CI timed out", "error"],
    ["cancelled", "CI was cancelled", "warning"],
    ["action_required", "CI needs action", "warning"],
    ["stale", "CI went stale", "warning"],
    ["skipped", "CI was skipped", "info"],
    ["neutral", "CI ended neutral", "info"],
    [null, "CI completed", "info"],
    ["constructor", "CI completed", "info"],
  ])("maps the conclusion %p to %p with severity %s", (conclusion, words, severity) => {
    const event = sent("workflow_run", replaced(run, ["workflow_run", "conclusion"], conclusion));
    expect(event.title).toStartWith(`${words} on main: `);
    expect(notificationsOf(codeHost, event)).toMatchObject([{ severity }]);
  });

  test("includes the attempt number, and the owner of a fork in the branch", () => {
    const again = replaced(run, ["workflow_run", "run_attempt"], 2);
    expect(sent("workflow_run", again).title).toEndWith("(acme/web #163, attempt 2)");
    const fork = replaced(run, ["workflow_run", "head_repository"], { full_name: "kim/web" });
    expect(sent("workflow_run", fork).title).toStartWith("CI failed on kim:main: ");
  });

  test("includes name and version of a package", () => {
    expect(sent("package", published)).toMatchObject({
      title: "Published web@1.4.0 (npm, acme/web)",
      url: "https://github.com/acme/web/packages/7?version=1.4.0",
      actor: "ada",
      subject: "package/7",
    });
  });

  test("includes the tag of a container, or its short digest", () => {
    const digest = "sha256:3da1996a8115d7616457760d9920b815241d0a03b34cf5f04e9a0e9d8de37498";
    const container = { name: "shop", package_type: "CONTAINER", package_version: {} };
    const titleOf = (version: object) =>
      sent("package", { ...published, package: { ...container, package_version: version } }).title;
    expect(titleOf({ version: digest })).toBe(
      "Published shop@sha256:3da1996a8115 (container, acme/web)",
    );
    const tag = { name: "latest", digest };
    expect(titleOf({ version: digest, container_metadata: { tag } })).toBe(
      "Published shop:latest (container, acme/web)",
    );
  });

  test("ignores a container's times in the year 1", () => {
    const year1 = replaced(published, ["package", "updated_at"], "0001-01-01T00:00:00Z");
    expect(sent("package", year1).occurredAt).toBeNull();
  });

  test("reads the type from the signed body if the event header is missing", () => {
    expect(sent(null, run)).toMatchObject({ status: "accepted", type: "workflow_run.completed" });
    expect(sent(null, published)).toMatchObject({ status: "accepted", type: "package.published" });
    expect(sent(null, { zen: "Design for failure.", hook_id: 1 })).toMatchObject({
      status: "ignored",
      type: "ping",
    });
  });

  test.each([
    ["package", run, "workflow_run.completed"],
    ["push", run, "workflow_run.completed"],
    ["package.published", run, "workflow_run.completed"],
    ["workflow_run", published, "package.published"],
    ["registry_package", published, "package.published"],
  ])("does not let the header %s override the signed body", (event, body, type) => {
    expect(sent(event, body)).toMatchObject({ status: "accepted", type });
  });

  test.each([
    ["workflow_run", { ...run, action: "requested" }, "workflow_run.requested"],
    ["workflow_run.completed", { ...run, action: undefined }, "unknown"],
    ["package", { action: "published", security_advisory: {} }, "unknown"],
    ["repository_dispatch", { action: "package.published", sender: {} }, "unknown"],
    ["workflow_run", { action: "completed", check_run: {}, sender: {} }, "unknown"],
    ["package.published", { workflow_run: {} }, "unknown"],
    ["workflow_run", { workflow_run: {} }, "workflow_run"],
    ["workflow_run", {}, "workflow_run"],
    ["workflow_run.completed", { action: "requested" }, "workflow_run.completed.requested"],
    ["workflow_run.completed", { event: "pull_request" }, "pull_request"],
    ["package.published", { event: "pull_request", sender: {} }, "pull_request"],
  ])("does not let the header %s turn another body into a listed event", (event, body, type) => {
    expect(sent(event, body)).toMatchObject({ status: "ignored", type });
  });

  test.each([
    ["workflow_run", { action: "completed" }],
    ["workflow_run", { action: "completed", workflow_run: [] }],
    ["workflow_run.completed", {}],
    ["workflow_run.completed", { action: "completed", repository: { full_name: "acme/web" } }],
    ["workflow_run.completed", { workflow_run: { id: 1 } }],
    [null, { event: "workflow_run.completed" }],
    [null, { type: "workflow_run.completed", id: 1 }],
    ["push", { action: "workflow_run.completed" }],
  ])("uses the header %s for a minimal body: %j", (event, body) => {
    const interpreted = sent(event, body);
    expect(interpreted).toMatchObject({ status: "accepted", type: "workflow_run.completed" });
    expect(interpreted.title).toStartWith("Workflow completed");
  });

  test("names an unlisted event by event and action, in printable characters", () => {
    const repository = { full_name: "acme/web", html_url: "https://github.com/acme/web" };
    expect(sent("ping", { zen: "Design for failure.", repository })).toMatchObject({
      status: "ignored",
      type: "ping",
      title: "Ignored: ping (acme/web)",
      url: "https://github.com/acme/web",
    });
    expect(sent("push", { ref: "refs/heads/main" }).type).toBe("push");
    expect(sent("issues", { action: "opened" }).type).toBe("issues.opened");
    expect(sent("<b>issues</b>", { action: "open\ned" }).type).toBe("-b-issues-b-.open-ed");
    expect(sent("x".repeat(9_000), {}).type).toHaveLength(80);
  });

  test("reads the delivery id from either header and ignores an invalid one", () => {
    const idOf = (headers: Readonly<Record<string, string>>) =>
      interpretPayload(codeHost, run, headers).deliveryId;
    expect(idOf({ "X-CodeHost-Delivery": "d-1" })).toBe("d-1");
    expect(idOf({ "X-GitHub-Delivery": "d-2" })).toBe("d-2");
    expect(idOf({ "X-GitHub-Delivery": "x".repeat(201) })).toBeNull();
    expect(idOf({})).toBeNull();
  });

  test("accepts only the two listed events of GitHub's own examples", () => {
    let count = 0;
    const accepted = new Map<string, number>();
    for (const { name, examples } of definitions) {
      for (const example of examples) {
        const event = sent(name, example);
        expectBounded(event);
        count += 1;
        if (event.status === "ignored") continue;
        accepted.set(event.type, (accepted.get(event.type) ?? 0) + 1);
        expect(event.actor).toBeString();
        expect(event.subject).toBeString();
        expect(event.url).toStartWith("https://github.com/");
        expect(event.occurredAt).toBeDate();
      }
    }
    expect(count).toBeGreaterThan(200);
    expect([...accepted.keys()].toSorted()).toEqual([
      "package.published",
      "workflow_run.completed",
    ]);
  });

  test.each([null, "push", "package", "workflow_run", "workflow_run.completed"])(
    "does not let the header %s change any of GitHub's own examples",
    (header) => {
      for (const { name, examples } of definitions) {
        for (const example of examples) {
          const genuine = sent(name, example);
          const event = sent(header, example);
          expect(event.status).toBe(genuine.status);
          if (genuine.status === "accepted") expect(event).toEqual(genuine);
        }
      }
    },
  );

  test("gives each of GitHub's own examples the type that GitHub names", () => {
    for (const { name, examples } of definitions) {
      for (const example of examples) {
        const action = at(example, "action");
        const type = typeof action === "string" ? `${name}.${action}` : name;
        expect(sent(name, example).type).toBe(type);
      }
    }
  });
});

test("runs of one workflow and branch are one pipeline, others are not", () => {
  const pipelineOf = (changes: object) => {
    const body = sampleBody(codeHost, "workflow_run.completed");
    const { workflow_run: sample } = body;
    return interpretPayload(codeHost, { ...body, workflow_run: { ...Object(sample), ...changes } })
      .data["pipeline"];
  };
  const red = pipelineOf({ id: 1, conclusion: "failure" });
  expect(red).toBe("acme/web CI main");
  expect(pipelineOf({ id: 2, conclusion: "success" })).toBe(red);
  expect(pipelineOf({ id: 3, head_branch: "next" })).not.toBe(red);
});
