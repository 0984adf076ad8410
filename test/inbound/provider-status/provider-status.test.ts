import { describe, expect, test } from "bun:test";

import { openStorage } from "../../../src/db/open.ts";
import { write } from "../../../src/db/statement.ts";
import { secretFingerprint } from "../../../src/inbound/model/secret-use.ts";
import { type ActiveHour, recordSecretUse } from "../../../src/inbound/model/webhook-counts.sql.ts";
import { rotation } from "../../../src/inbound/provider-status/rotation.ts";
import { silence } from "../../../src/inbound/provider-status/silence.ts";
import { countWrites } from "../../../src/inbound/receive/tally.ts";
import { schema } from "../../../src/schema/schema.ts";
import { until } from "../../support/app.ts";
import { listed } from "../../support/operator.ts";
import { removeFolder, runSkyhook, temporaryFolder } from "../../support/program.ts";
import { appPerTest } from "../../support/running-app.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const now = Date.UTC(2026, 10, 21, 9);

describe("silence", () => {
  /** Active hours, newest first, from their ages in hours. */
  const hours = (ages: readonly number[], deliveries: number): ActiveHour[] =>
    ages
      .toSorted((one, other) => one - other)
      .map((age) => ({ minute: now / 60_000 - age * 60, deliveries }));
  const range = (from: number, to: number, step = 1) =>
    Array.from({ length: Math.floor((to - from) / step) }, (_, n) => from + n * step);
  const silentFor = (hoursAgo: number, active: readonly ActiveHour[]) =>
    silence(active, now - hoursAgo * hourMs, now);

  test("reports a provider as silent after 26 h if it usually sends every 20 min", () => {
    expect(silentFor(26, hours(range(26, 26 + 14 * 24), 3))).toEqual({
      usualIntervalSeconds: 20 * 60,
      silentForSeconds: 26 * 3_600,
      isSilent: true,
    });
  });

  test("waits for exactly ten usual intervals", () => {
    const every20Minutes = hours(range(1, 200), 3);
    const at = (seconds: number) => silence(every20Minutes, now - seconds * 1_000, now).isSilent;
    expect([at(200 * 60), at(200 * 60 + 1)]).toEqual([false, true]);
  });

  test("does not report a pause as long as an earlier one, such as a weekend", () => {
    // Two days of working hours after a pause of 62 hours, and another pause of 62 hours.
    const active = hours([...range(62, 70), ...range(78, 86), ...range(147, 155)], 5);
    expect(silentFor(62, active)).toMatchObject({ usualIntervalSeconds: 720, isSilent: false });
    expect(silentFor(64, active)).toMatchObject({ isSilent: true });
  });

  test("reports a daily provider as silent after ten days", () => {
    const daily = hours(range(24, 14 * 24, 24), 1);
    expect(silentFor(24 * 9, daily)).toMatchObject({
      usualIntervalSeconds: 86_400,
      isSilent: false,
    });
    expect(silentFor(24 * 10 + 1, daily)).toMatchObject({ isSilent: true });
  });

  test("does not change the usual interval after a burst", () => {
    const calm = hours(range(2, 300), 3);
    const burst = calm.map((hour, index) => (index === 7 ? { ...hour, deliveries: 90_000 } : hour));
    expect(silentFor(1, burst).usualIntervalSeconds).toBe(20 * 60);
  });

  test("considers only the 14 days before the last delivery", () => {
    const active = hours([...range(1, 100), ...range(400, 800)], 3);
    expect(silentFor(5, active)).toMatchObject({ isSilent: true });
  });

  test("reports no usual interval for fewer than ten deliveries", () => {
    expect(silentFor(9_000, hours([9_000], 9))).toMatchObject({
      usualIntervalSeconds: null,
      isSilent: false,
    });
    expect(silentFor(9_000, hours([9_000], 10))).toEqual({
      usualIntervalSeconds: 360,
      silentForSeconds: 9_000 * 3_600,
      isSilent: true,
    });
  });

  test("does not report a provider that never sent as silent", () => {
    expect(silence([], null, now)).toEqual({
      usualIntervalSeconds: null,
      silentForSeconds: null,
      isSilent: false,
    });
  });
});

describe("rotation", () => {
  const secrets = { current: "new", previous: "old" };
  const fingerprints = { current: "aaaa", previous: "bbbb" };
  /** A secret that first and last matched so many hours ago. */
  const use = (secret: string, first: number, last: number) => ({
    provider: "code_host",
    secret,
    firstMatchedAt: new Date(now - first * hourMs),
    lastMatchedAt: new Date(now - last * hourMs),
  });
  const safe = (...uses: ReturnType<typeof use>[]) =>
    rotation({ secrets, fingerprints }, uses, now).previous.safeToRemove;

  test.each([
    ["nothing has matched yet", false, []],
    ["only the previous one matches", false, [use("bbbb", 99, 26)]],
    [
      "the current one matches, the previous one did 23 h ago",
      false,
      [use("aaaa", 9, 1), use("bbbb", 99, 23)],
    ],
    [
      "the current one matches, the previous one did 24 h ago",
      true,
      [use("aaaa", 9, 1), use("bbbb", 99, 24)],
    ],
    [
      "the previous one matched after the current one",
      false,
      [use("aaaa", 99, 50), use("bbbb", 99, 26)],
    ],
    [
      "the previous one never matched, the current one first did 23 h ago",
      false,
      [use("aaaa", 23, 1)],
    ],
    [
      "the previous one never matched, the current one first did 24 h ago",
      true,
      [use("aaaa", 24, 1)],
    ],
    ["only an older secret matched", false, [use("cccc", 99, 26)]],
  ] as const)("if %s, safeToRemove is %p", (_, expected, uses) => {
    expect(safe(...uses)).toBe(expected);
  });

  test("has nothing to remove for a provider with one secret", () => {
    const alone = {
      secrets: { ...secrets, previous: null },
      fingerprints: { ...fingerprints, previous: "" },
    };
    expect(rotation(alone, [use("aaaa", 99, 1)], now)).toEqual({
      current: { present: true, lastMatchedAt: new Date(now - hourMs) },
      previous: { present: false, lastMatchedAt: null, safeToRemove: false },
    });
  });

  test("distinguishes secrets by stable fingerprints", () => {
    expect(secretFingerprint("one")).toMatch(/^[0-9a-f]{4}$/);
    expect(secretFingerprint("one")).toBe(secretFingerprint("one"));
    expect(secretFingerprint("one")).not.toBe(secretFingerprint("other"));
  });
});

describe("GET /v1/providers", () => {
  const app = appPerTest();
  const flushMs = 2_000;
  const status = async (id: string) =>
    (await listed(app, "/v1/providers")).find(({ provider }) => provider === id);

  test("lists the registered providers, with and without a secret", async () => {
    await app.restart({
      WEBHOOK_PROVIDERS: "code_host,task_tracker",
      TASK_TRACKER_WEBHOOK_SECRET: undefined,
    });
    const none = {
      lastEventAt: null,
      usualIntervalSeconds: null,
      silentForSeconds: null,
      isSilent: false,
    };
    const unset = { present: false, lastMatchedAt: null };
    expect(await listed(app, "/v1/providers")).toEqual([
      {
        provider: "task_tracker",
        displayName: expect.any(String),
        hasSecret: false,
        ...none,
        secrets: { current: unset, previous: { ...unset, safeToRemove: false } },
        reconciliation: null,
      },
      {
        provider: "code_host",
        displayName: expect.any(String),
        hasSecret: true,
        ...none,
        secrets: {
          current: { present: true, lastMatchedAt: null },
          previous: { ...unset, safeToRemove: false },
        },
        reconciliation: null,
      },
    ]);
  });

  test("returns when each secret last matched, and when the previous one is safe to remove", async () => {
    await app.restart({ CODE_HOST_WEBHOOK_SECRET_PREVIOUS: "the one before" });
    const start = new Date(app.clock.now()).toISOString();
    await app.deliver("code_host", '{"n":1}', { secret: "the one before" });
    app.clock.advance(flushMs);
    const matched = (at: string | null, previous: object) => ({
      current: { present: true, lastMatchedAt: at },
      previous: { present: true, ...previous },
    });
    const rotating = async () => (await status("code_host"))?.["secrets"];
    const early = matched(null, { lastMatchedAt: start, safeToRemove: false });
    await until(async () => Bun.deepEquals(await rotating(), early));

    app.clock.advance(26 * hourMs);
    const later = new Date(app.clock.now()).toISOString();
    await app.deliver("code_host", '{"n":2}');
    // A duplicate, which verifies too.
    await app.deliver("code_host", '{"n":2}');
    app.clock.advance(flushMs);
    const done = matched(later, { lastMatchedAt: start, safeToRemove: true });
    await until(async () => Bun.deepEquals(await rotating(), done));
    expect(await status("code_host")).toMatchObject({ lastEventAt: later, silentForSeconds: 2 });
  });

  test("does not count a rejected delivery as a match or as activity", async () => {
    await app.deliver("code_host", "{}", { secret: "wrong" });
    app.clock.advance(flushMs);
    expect(await status("code_host")).toMatchObject({
      silentForSeconds: null,
      secrets: { current: { lastMatchedAt: null } },
    });
  });

  test("reports a silent provider", async () => {
    await app.deliver("code_host", "{}");
    const minute = Math.floor(app.clock.now() / 60_000);
    for (let hour = 0; hour < 3; hour += 1) {
      const count = { provider: "code_host", verdict: "accepted", deliveries: 12 } as const;
      await app.services.storage.atomically(
        ...countWrites([{ ...count, minute: minute - hour * 60 }]),
      );
    }
    app.clock.advance(hourMs);
    expect(await status("code_host")).toMatchObject({ usualIntervalSeconds: 300, isSilent: false });
    app.clock.advance(dayMs);
    expect(await status("code_host")).toMatchObject({
      silentForSeconds: 25 * 3_600,
      isSilent: true,
    });
  });
});

test("skyhook doctor prints when the previous secret last matched, and that it is safe to remove", async () => {
  const cwd = temporaryFolder();
  const [current, previous] = ["a secret of sixteen or more", "the one of before, as long"];
  const storage = await openStorage(schema, `sqlite:${cwd}/data/skyhook.db`);
  for (const [secret, hours] of [
    [current, 1],
    [previous, 26],
  ] as const) {
    const at = new Date(Date.now() - hours * hourMs);
    const use = { provider: "code_host", firstMatchedAt: at, lastMatchedAt: at };
    await storage.atomically(write(recordSecretUse, { ...use, secret: secretFingerprint(secret) }));
  }
  await storage.close();
  const env = {
    WEBHOOK_PROVIDERS: "code_host",
    CODE_HOST_WEBHOOK_SECRET: current,
    CODE_HOST_WEBHOOK_SECRET_PREVIOUS: previous,
  };
  const { out } = await runSkyhook(["doctor"], { cwd, env });
  expect(out).toMatch(/! +rotation code_host +previous secret last used 26 h ago: safe to remove/);
  const alone = await runSkyhook(["doctor"], {
    cwd,
    env: { WEBHOOK_PROVIDERS: "code_host", CODE_HOST_WEBHOOK_SECRET: current },
  });
  expect(alone.out).not.toContain("rotation");
  removeFolder(cwd);
});
