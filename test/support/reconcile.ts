import { expect } from "bun:test";

import type { Clock } from "../../src/base/clock.ts";
import type { RunOptions, RunResult } from "../../src/inbound/reconcile/reconciler.ts";

import { json, sample, startApp, type TestApp } from "./app.ts";
import { type ManualClock, manualClock } from "./clock.ts";
import {
  type FakeGithub,
  fakeGithub,
  type FakeGithubOptions,
  type Post,
  type Sent,
} from "./github.ts";

/** A service that reads the log of a fake GitHub, both in this process. */
export interface Reconciled {
  readonly app: TestApp;
  readonly github: FakeGithub;
  /** The networks between GitHub and Skyhook. */
  readonly arrives: Post;
  /** The delivery arrives, but GitHub does not get the response. */
  readonly isUnanswered: Post;
}

export const isLost: Post = () => Promise.resolve(null);
export const isLostByProxy: Post = () => Promise.resolve(200);

const stops: (() => Promise<void>)[] = [];

/** Stops `stop` after the test, before what was started earlier. */
export function stopAfterTest(stop: () => Promise<void>): void {
  stops.push(stop);
}

/** Each test file calls this after each test: a hook here would be one of the first file that loads this module. */
export async function stopAll(): Promise<void> {
  for (const stop of stops.splice(0).toReversed()) await stop();
}

export async function startReconciled(
  options: FakeGithubOptions = {},
  env: Record<string, string> = {},
): Promise<Reconciled> {
  const clock = manualClock();
  const github = fakeGithub({ now: () => clock.now(), ...options });
  stopAfterTest(() => github.stop());
  const app = await startForTest({ ...settingsOf(github), ...env }, clock);
  const arrives: Post = async (body, headers) =>
    (await app.fetch("/webhooks/code_host", { method: "POST", body, headers })).status;
  const isUnanswered: Post = async (body, headers) => {
    await arrives(body, headers);
    return null;
  };
  return { app, github, arrives, isUnanswered };
}

export async function startForTest(
  env: Record<string, string>,
  clock?: ManualClock,
): Promise<TestApp> {
  const app = await startApp(env, clock);
  stopAfterTest(() => app.stop());
  return app;
}

/** The settings with which a server reads the log. By default without a timer. */
export const settingsOf = ({ url, token, hook }: FakeGithub) => ({
  CODE_HOST_API_URL: url,
  CODE_HOST_API_TOKEN: token,
  CODE_HOST_HOOK: hook,
  RECONCILE_MINUTES: "0",
});

/** Runs a reconciliation. Time passes meanwhile, for the delays between retries. */
export async function run(
  { services, clock }: TestApp,
  provider = "code_host",
  options: Partial<RunOptions> = {},
): Promise<RunResult> {
  const { signal } = new AbortController();
  const running = services.reconciler.run(provider, { signal, ...options });
  let isOver = false;
  const end = () => void (isOver = true);
  void running.then(end, end);
  for (let turns = 1; !isOver; turns += 1) {
    await Bun.sleep(1);
    if (turns % 50 === 0) clock.advance(500);
  }
  return running;
}

interface Clocked {
  readonly clock: Clock;
}

let number = 0;

/** A workflow run with characters that are written in several ways in JSON. */
export function workflowRun({ clock }: Clocked): Sent {
  number += 1;
  const { body } = sample("code_host", "workflow_run.completed", clock);
  const run = { ...Object(body["workflow_run"]), id: number, display_title: "Grüße / \u001f 😀" };
  return { event: "workflow_run", payload: { ...body, workflow_run: run } };
}

export function published({ clock }: Clocked): Sent {
  return { event: "package", payload: sample("code_host", "package.published", clock).body };
}

/** All stored events of a provider, newest first. */
export async function storedEvents(
  app: TestApp,
  provider = "code_host",
): Promise<readonly Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = [];
  for (let cursor = ""; ;) {
    const path = `/v1/events?provider=${provider}&limit=100${cursor}`;
    const { data, pagination } = await json(await app.as("operator", path));
    if (Array.isArray(data)) all.push(...data);
    const { nextCursor, hasMore } = Object(pagination);
    if (hasMore !== true) return all;
    cursor = `&cursor=${String(nextCursor)}`;
  }
}

/** The provider's `reconciliation` of `GET /v1/providers`. */
export async function statusOf(
  app: TestApp,
  provider = "code_host",
): Promise<Record<string, unknown>> {
  return statusIn(await app.as("operator", "/v1/providers"), provider);
}

/** The provider's `reconciliation` in a response of `GET /v1/providers`. */
export async function statusIn(
  response: Response,
  provider = "code_host",
): Promise<Record<string, unknown>> {
  const { data } = await json(response);
  const all: Record<string, unknown>[] = Array.isArray(data) ? data : [];
  return Object(all.find((one) => one["provider"] === provider)?.["reconciliation"]);
}

/** The first line of a metric. */
export async function metricOf(app: TestApp, name: string): Promise<string | undefined> {
  const text = await (await app.as("operator", "/metrics")).text();
  return text.split("\n").find((line) => line.startsWith(name));
}

/** Expects one event, with one notification, for each listed delivery that GitHub sent. */
export async function expectEachOnce({ app, github }: Reconciled): Promise<void> {
  const wanted = github.log.filter(({ event }) => event !== "ping");
  const keys = new Set(wanted.map(({ guid }) => `code_host:${guid}`));
  const accepted = (await storedEvents(app)).filter((event) => event["status"] === "accepted");
  expect(accepted.map((event) => String(event["idempotencyKey"])).toSorted()).toEqual(
    [...keys].toSorted(),
  );
  const page = await json(await app.as("operator", "/v1/notifications?include=total"));
  expect(Object(page["pagination"])["total"]).toBe(keys.size);
}
