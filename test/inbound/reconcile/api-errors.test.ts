import { afterEach, describe, expect, test } from "bun:test";

import { hookDeliveryId } from "../../support/github.ts";
import {
  expectEachOnce,
  isLost,
  metricOf,
  run,
  startReconciled,
  statusOf,
  stopAfterTest,
  stopAll,
  storedEvents,
  workflowRun,
} from "../../support/reconcile.ts";

afterEach(stopAll);

const failingMetric = 'skyhook_reconcile_failing{provider="code_host"}';

describe("an API that limits its rate", () => {
  test.each([
    ["429 with Retry-After", 429, { "retry-after": "120" }, "slow down", 120],
    ["403 with a reset", 403, { "x-ratelimit-remaining": "0" }, "API rate limit exceeded", 600],
    ["403 with a message", 403, {}, "You have exceeded a secondary rate limit.", 60],
  ] as const)(
    "by %s is not asked again before that time",
    async (_, status, headers, message, seconds) => {
      let isLimited = true;
      const all = await startReconciled({
        maxPerPage: 2,
        answer({ url }) {
          if (!isLimited || !url.includes("cursor=")) return undefined;
          const reset = String(Math.floor(app.clock.now() / 1_000) + 600);
          return Response.json(
            { message },
            { status, headers: { "x-ratelimit-reset": reset, ...headers } },
          );
        },
      });
      const { app, github } = all;
      for (let index = 0; index < 3; index += 1) await github.deliver(workflowRun(app), isLost);
      const paused = await run(app);
      expect(paused).toMatchObject({ status: "paused", error: null, counts: { recovered: 2 } });
      const waitMs = (paused.retryAt?.getTime() ?? 0) - app.clock.now();
      expect(waitMs / 1_000).toBeWithin(seconds - 3, seconds + 1);

      isLimited = false;
      const before = github.requests.length;
      // The first of these runs leaves no lease behind.
      for (let runs = 0; runs < 2; runs += 1) {
        expect(await run(app)).toMatchObject({ status: "paused" });
      }
      expect(github.requests).toHaveLength(before);
      expect(await statusOf(app)).toMatchObject({ pausedUntil: paused.retryAt?.toISOString() });
      app.clock.advance(waitMs);
      expect(await run(app)).toMatchObject({ status: "complete", counts: { recovered: 1 } });
      expect(github.requests[before]).toContain("cursor=");
      await expectEachOnce(all);
    },
  );

  test("is not asked after the last request that it allows", async () => {
    const { app, github } = await startReconciled({
      answer(_, number) {
        if (number > 1) return undefined;
        const item = {
          id: 1,
          guid: crypto.randomUUID(),
          event: "package",
          action: "published",
          delivered_at: new Date(app.clock.now()),
          status_code: 0,
        };
        const reset = String(Math.ceil(app.clock.now() / 1_000) + 30);
        const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset };
        return Response.json([item], { headers });
      },
    });
    expect(await run(app)).toMatchObject({ status: "paused" });
    expect(github.requests).toHaveLength(1);
  });

  test("for longer than it should is asked again after six hours", async () => {
    const headers = { "retry-after": "999999999" };
    const { app } = await startReconciled({
      answer: () => Response.json({}, { status: 429, headers }),
    });
    const { retryAt } = await run(app);
    expect((retryAt?.getTime() ?? 0) - app.clock.now()).toBeWithin(1, 6 * 3_600_000 + 1);
  });
});

describe("an API that fails", () => {
  test.each([
    [401, "Bad credentials", "CODE_HOST_API_TOKEN"],
    [403, "Resource not accessible by personal access token", "Webhooks: read"],
    [404, "Not Found", "CODE_HOST_HOOK"],
  ])("with %i is reported with what to do", async (status, message, advice) => {
    const headers = { "x-accepted-github-permissions": "repository_hooks=read" };
    const { app } = await startReconciled({
      answer: () => Response.json({ message }, { status, headers }),
    });
    const { status: end, error } = await run(app);
    expect(end).toBe("failed");
    expect(error).toContain(message);
    expect(error).toContain(advice);
    if (status !== 401) expect(error).toContain("repository_hooks=read");
    expect(await statusOf(app)).toMatchObject({ error, succeededAt: null, coveredUntil: null });
    expect(await metricOf(app, failingMetric)).toEndWith(" 1");
  });

  test.each<[string, () => Response]>([
    [
      "a redirect",
      () => new Response(null, { status: 302, headers: { location: "https://evil.example/" } }),
    ],
    ["a redirect without a target", () => new Response(null, { status: 301 })],
    ["a page of HTML", () => new Response("<h1>Hello</h1>")],
    ["nothing", () => new Response()],
    ["an object", () => Response.json({ a: 1 })],
    ["a list of numbers", () => Response.json([1, 2])],
    ["more than 8 MiB", () => new Response(`[${" ".repeat(9 * 2 ** 20)}]`)],
    ["deep JSON", () => new Response(`${"[".repeat(100_000)}${"]".repeat(100_000)}`)],
  ])("with %s is reported in one line, and changes nothing", async (_, answer) => {
    const { app, github } = await startReconciled({ answer });
    const { status, error } = await run(app);
    expect(status).toBe("failed");
    expect(error).toMatch(/^[ -~]{10,400}$/);
    expect(error).not.toContain(github.token);
    expect(await storedEvents(app)).toEqual([]);
    expect(await statusOf(app)).toMatchObject({ coveredUntil: null });
  });

  test("never shows the token, even if a response repeats it", async () => {
    const { app } = await startReconciled({
      answer({ headers }) {
        const message = `${headers.get("authorization")} expired`;
        return Response.json({ message }, { status: 401 });
      },
    });
    expect((await run(app)).error).toContain("Bearer (token) expired");
  });

  test("is asked at the configured origin only, whatever links it returns", async () => {
    let strangers = 0;
    const stranger = Bun.serve({
      port: 0,
      fetch() {
        strangers += 1;
        return Response.json([]);
      },
    });
    stopAfterTest(() => stranger.stop(true));
    const { app, github } = await startReconciled({
      answer(_, number) {
        const link = `<${stranger.url.href}?cursor=v1_${hookDeliveryId(1)}>; rel="next"`;
        return number > 1 ? undefined : Response.json([], { headers: { link } });
      },
    });
    await github.deliver(workflowRun(app), isLost);
    expect((await run(app)).counts).toMatchObject({ recovered: 1 });
    expect(github.requests[1]).toContain(`cursor=v1_${hookDeliveryId(1)}`);
    expect(strangers).toBe(0);
  });

  test("for a moment is asked again", async () => {
    const { app, github } = await startReconciled({
      answer: (_, number) => (number % 2 === 1 ? new Response("oops", { status: 502 }) : undefined),
    });
    await github.deliver(workflowRun(app), isLost);
    expect(await run(app)).toMatchObject({ status: "complete", counts: { recovered: 1 } });
  });

  test("for one delivery does not delay the others, and the next run reads it", async () => {
    let isBroken = true;
    const all = await startReconciled({
      answer: ({ url }) =>
        isBroken && url.endsWith(`/deliveries/${hookDeliveryId(2)}`)
          ? new Response("", { status: 500 })
          : undefined,
    });
    const { app, github } = all;
    for (let index = 0; index < 3; index += 1) await github.deliver(workflowRun(app), isLost);
    expect(await run(app)).toMatchObject({
      status: "failed",
      counts: { recovered: 2, failed: 1 },
      error: expect.stringContaining("1 webhooks cannot be read"),
    });
    isBroken = false;
    expect(await run(app)).toMatchObject({
      status: "complete",
      counts: { recovered: 1, stored: 2 },
    });
    await expectEachOnce(all);
  });

  test("for one delivery of a run that is interrupted, does not lose it", async () => {
    const interruption = new AbortController();
    let isBroken = true;
    const all = await startReconciled({
      maxPerPage: 2,
      answer({ url }) {
        if (isBroken && url.includes("cursor=")) interruption.abort();
        return isBroken && url.endsWith(`/deliveries/${hookDeliveryId(3)}`)
          ? new Response("", { status: 500 })
          : undefined;
      },
    });
    const { app, github } = all;
    // Longer ago than what each run reads again.
    const sentAt = new Date(app.clock.now() - 2 * 3_600_000);
    for (let index = 0; index < 3; index += 1) {
      await github.deliver(workflowRun(app), isLost, sentAt);
    }
    const { signal } = interruption;
    expect(await run(app, "code_host", { signal })).toMatchObject({
      status: "stopped",
      counts: { recovered: 1, failed: 1 },
    });
    isBroken = false;
    expect(await run(app)).toMatchObject({ status: "complete", counts: { recovered: 2 } });
    await expectEachOnce(all);
  });

  test("for every delivery ends the run", async () => {
    const { app, github } = await startReconciled({
      answer: ({ url }) => (url.includes("?") ? undefined : new Response("", { status: 500 })),
    });
    for (let index = 0; index < 9; index += 1) await github.deliver(workflowRun(app), isLost);
    expect(await run(app)).toMatchObject({ status: "failed" });
    // The list, and three deliveries, three times each.
    expect(github.requests).toHaveLength(1 + 3 * 3);
  });

  const logged = (request: object) => () => Response.json({ request });
  test.each<[string, () => Response]>([
    ["was deleted", () => Response.json({ message: "Not Found" }, { status: 404 })],
    ["has no payload", logged({ headers: {}, payload: null })],
    ["has another event's payload", logged({ headers: {}, payload: { zen: "z", hook_id: 1 } })],
    ["has unusable headers", logged({ headers: { "x-a": "a\nb", "": "c" }, payload: { a: 1 } })],
    ["is too large", logged({ headers: {}, payload: { a: "x".repeat(26 * 2 ** 20) } })],
  ])("since a delivery %s reports it and goes on", async (_, answer) => {
    const { app, github } = await startReconciled({
      answer: ({ url }) =>
        url.endsWith(`/deliveries/${hookDeliveryId(1)}`) ? answer() : undefined,
    });
    await github.deliver(workflowRun(app), isLost);
    await github.deliver(workflowRun(app), isLost);
    expect(await run(app)).toMatchObject({
      status: "complete",
      counts: { recovered: 1, unreadable: 1 },
    });
  });
});
