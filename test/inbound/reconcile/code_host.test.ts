import { afterEach, describe, expect, test } from "bun:test";

import fc from "fast-check";

import { json } from "../../support/app.ts";
import { hookDeliveryId, type Post } from "../../support/github.ts";
import {
  expectEachOnce,
  isLost,
  isLostByProxy,
  metricOf,
  published,
  type Reconciled,
  run,
  startReconciled,
  statusOf,
  stopAll,
  storedEvents,
  workflowRun,
} from "../../support/reconcile.ts";
import { runs } from "../../support/runs.ts";

const dayMs = 86_400_000;
afterEach(stopAll);
const unwanted = { event: "ping", payload: { zen: "Keep it logically awesome.", hook_id: 7 } };

/** The API requests for one delivery, without those for lists. */
const detailsOf = ({ github }: Reconciled) =>
  github.requests.filter((request) => !request.includes("?"));

test("recovers deliveries that were lost, and only those", async () => {
  const all = await startReconciled();
  const { app, github, arrives, isUnanswered } = all;
  await github.deliver(workflowRun(app), arrives);
  await github.deliver(workflowRun(app), isLost);
  await github.deliver(published(app), isLost);
  await github.deliver(unwanted, isLost);
  await github.deliver(published(app), isUnanswered);
  expect(await run(app)).toMatchObject({
    status: "complete",
    counts: { recovered: 2, stored: 2, missing: 0, unreadable: 0, failed: 0 },
  });
  await expectEachOnce(all);
  const recovered = (await storedEvents(app)).filter((event) => event["recovered"] === true);
  // Newest first: the one that was sent first was recovered first.
  expect(recovered.map(({ type }) => type)).toEqual([
    "package.published",
    "workflow_run.completed",
  ]);
  expect(await statusOf(app)).toMatchObject({ error: null, recovered: 2 });
  expect(await metricOf(app, 'skyhook_reconcile_failing{provider="code_host"}')).toEndWith(" 0");
  const runsTotal = 'skyhook_reconcile_runs_total{provider="code_host",result="complete"}';
  expect(await metricOf(app, runsTotal)).toEndWith(" 1");
});

test("reads only what is missing, once", async () => {
  const all = await startReconciled();
  const { app, github, arrives } = all;
  await github.deliver(workflowRun(app), arrives);
  const missing = await github.deliver(workflowRun(app), isLost);
  await run(app);
  await run(app);
  expect(detailsOf(all)).toEqual([`GET /${github.hook}/deliveries/${String(missing.id)}`]);
});

test("reads all pages, and in the next run only the new ones", async () => {
  const all = await startReconciled();
  const { app, github } = all;
  for (let index = 0; index < 250; index += 1) await github.deliver(workflowRun(app), isLost);
  expect((await run(app)).counts).toMatchObject({ recovered: 250 });
  expect(github.requests).toHaveLength(3 + 250);
  // Those of the last hour are listed once more, but not read.
  app.clock.advance(2 * 3_600_000);
  await github.deliver(workflowRun(app), isLost);
  expect((await run(app)).counts).toMatchObject({ recovered: 1, stored: 250 });
  expect(github.requests).toHaveLength(3 + 250 + 3 + 1);
  await github.deliver(workflowRun(app), isLost);
  expect((await run(app)).counts).toMatchObject({ recovered: 1, stored: 1 });
  expect(github.requests).toHaveLength(3 + 250 + 3 + 1 + 2);
  await expectEachOnce(all);
});

test("continues an interrupted run where it ended", async () => {
  const controller = new AbortController();
  const all = await startReconciled({
    answer(request) {
      if (request.url.includes(`cursor=v1_${hookDeliveryId(50)}`)) controller.abort();
      return undefined;
    },
  });
  const { app, github } = all;
  for (let index = 0; index < 150; index += 1) await github.deliver(workflowRun(app), isLost);
  const { signal } = controller;
  expect(await run(app, "code_host", { signal })).toMatchObject({ status: "stopped" });
  expect(await storedEvents(app)).toHaveLength(100);
  const before = github.requests.length;
  await github.deliver(workflowRun(app), isLost);
  // With what came meanwhile.
  expect((await run(app)).counts).toMatchObject({ recovered: 51 });
  expect(github.requests[before]).toContain(`cursor=v1_${hookDeliveryId(50)}`);
  await expectEachOnce(all);
  expect(await statusOf(app)).toMatchObject({ recovered: 151 });
});

test("recovers the exact bytes of a payload with an id beyond 2^53", async () => {
  const all = await startReconciled();
  const { app, github } = all;
  const { event, payload } = workflowRun(app);
  const id = JSON.rawJSON("820982911946154509");
  const ofRun = { ...Object(payload["workflow_run"]), id };
  const sent = await github.deliver(
    { event, payload: { ...payload, workflow_run: ofRun } },
    isLost,
  );
  expect(sent.body).toContain('"id":820982911946154509,');
  expect((await run(app)).counts).toMatchObject({ recovered: 1 });
  await expectEachOnce(all);
  const [stored] = await storedEvents(app);
  expect(stored).toMatchObject({ subject: "workflow_run/820982911946154509" });
  const detail = await json(await app.as("operator", `/v1/events/${String(stored?.["id"])}`));
  expect(detail).toMatchObject({ body: sent.body });
});

test("lists what is missing in a dry run, and stores nothing", async () => {
  const { app, github, arrives } = await startReconciled();
  await github.deliver(workflowRun(app), arrives);
  const missing = await github.deliver(workflowRun(app), isLost);
  const reported: string[] = [];
  const { counts } = await run(app, "code_host", {
    isDryRun: true,
    report: ({ deliveryId }, outcome) => reported.push(`${outcome} ${deliveryId}`),
  });
  expect(counts).toMatchObject({ missing: 1, stored: 1, recovered: 0 });
  expect(reported).toContain(`missing ${missing.guid}`);
  expect(await storedEvents(app)).toHaveLength(1);
  expect(await statusOf(app)).toMatchObject({ checkedAt: null });
});

test("looks back as far as it is told, and at most as far as the log reaches", async () => {
  const { app, github } = await startReconciled();
  const ago = (ms: number) => new Date(app.clock.now() - ms);
  await github.deliver(workflowRun(app), isLost, ago(4 * dayMs));
  await github.deliver(workflowRun(app), isLost, ago(2 * dayMs));
  await github.deliver(workflowRun(app), isLost, ago(3_600_000));
  const since = (ms: number) => run(app, "code_host", { since: ago(ms) });
  expect((await since(dayMs)).counts).toMatchObject({ recovered: 1 });
  // That left a gap, which the next run closes.
  expect((await run(app)).counts).toMatchObject({ recovered: 1, stored: 1 });
  expect((await since(9 * dayMs)).counts).toMatchObject({ recovered: 0, stored: 2 });
});

test("stores a lost delivery although its id was used for a captured body", async () => {
  const { app, github, arrives } = await startReconciled();
  const guid = crypto.randomUUID();
  const forged: Post = (body, headers) => arrives(body, { ...headers, "X-GitHub-Delivery": guid });
  const captured = await github.deliver(workflowRun(app), forged);
  await github.deliver({ guid, ...workflowRun(app) }, isLost);
  await run(app);
  const keys = (await storedEvents(app)).map((event) => String(event["idempotencyKey"]));
  expect(keys).toHaveLength(2);
  expect(keys).toContain(`code_host:${guid}`);
  expect(keys).not.toContain(`code_host:${captured.guid}`);
});

test("compares the last hour again, for what the log shows late", async () => {
  let lateMs = 0;
  const { app, github } = await startReconciled({ now: () => app.clock.now() - lateMs });
  expect(await run(app)).toMatchObject({ status: "complete" });
  lateMs = 3_500_000;
  await github.deliver(workflowRun(app), isLost);
  expect(await run(app)).toMatchObject({ status: "complete", counts: { recovered: 1 } });
});

test("only one process at a time reads a log", async () => {
  const isAsked = Promise.withResolvers<void>();
  const { app, github } = await startReconciled({
    answer() {
      isAsked.resolve();
      return undefined;
    },
  });
  await github.deliver(workflowRun(app), isLost);
  const first = run(app);
  await isAsked.promise;
  expect(await run(app)).toMatchObject({ status: "busy" });
  expect(await first).toMatchObject({ status: "complete", counts: { recovered: 1 } });
  expect(await run(app)).toMatchObject({ status: "complete" });
});

test("a lease that its process did not renew ends", async () => {
  const isAsked = Promise.withResolvers<void>();
  const { app } = await startReconciled({
    answer() {
      isAsked.resolve();
      return undefined;
    },
  });
  const first = run(app);
  await isAsked.promise;
  // The timers of a process that is suspended do not fire.
  app.clock.jump(31_000);
  expect(await run(app)).toMatchObject({ status: "complete" });
  await first;
});

/** Bytes that JSON.stringify does not make of the payload. */
const otherBytes = (payload: object) => ` ${JSON.stringify(payload, null, 1)}`;
/** Escapes in upper case, as GitHub writes them. */
const upperCase = (payload: object) =>
  JSON.stringify(payload).replaceAll(
    /\\u[\da-f]{4}/g,
    (text) => `\\u${text.slice(2).toUpperCase()}`,
  );
const asForm = (payload: object) =>
  new URLSearchParams({ payload: JSON.stringify(payload) }).toString();

test.each([
  ["compact JSON", JSON.stringify],
  ["escapes in upper case", upperCase],
  ["a form", asForm],
] as const)("stores the exact bytes of %s", async (_, write) => {
  const { app, github } = await startReconciled({ write });
  const { body } = await github.deliver(workflowRun(app), isLost);
  await run(app);
  const [event] = await storedEvents(app);
  const detail = await app.as("operator", `/v1/events/${String(event?.["id"])}`);
  expect(await detail.json()).toMatchObject({ body, receipt: { signedWith: null } });
});

const anyStep = fc.oneof(
  fc.record({ kind: fc.constant("delivery" as const), network: fc.nat(3) }),
  fc.record({ kind: fc.constant("redelivery" as const), of: fc.nat(), network: fc.nat(3) }),
  fc.record({ kind: fc.constant("run" as const) }),
);

describe.each([
  ["the exact bytes", {}],
  ["other bytes", { write: otherBytes, keepsSignature: false }],
] as const)("with a log that has %s", (_, options) => {
  test("each event is stored once, however deliveries, redeliveries and runs interleave", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyStep, { maxLength: 20 }),
        fc.boolean(),
        async (steps, isAtOnce) => {
          await stopAll();
          const all = await startReconciled(options);
          const { app, github } = all;
          const networks = [all.arrives, isLost, isLostByProxy, all.isUnanswered];
          const take = async (step: (typeof steps)[number]): Promise<unknown> => {
            if (step.kind === "run") return run(app);
            const network = networks[step.network] ?? isLost;
            if (step.kind === "delivery") return github.deliver(workflowRun(app), network);
            const earlier = github.log[step.of % Math.max(1, github.log.length)];
            return earlier && github.redeliver(earlier, network);
          };
          if (isAtOnce) await Promise.all(steps.map(take));
          else for (const step of steps) await take(step);
          expect(await run(app)).toMatchObject({ status: "complete" });
          await expectEachOnce(all);
        },
      ),
      { numRuns: runs(40) },
    );
  });
});
