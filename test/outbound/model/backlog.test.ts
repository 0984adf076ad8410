import { expect, test } from "bun:test";

import type { Storage } from "../../../src/db/storage.ts";
import { sharedBacklog } from "../../../src/outbound/model/backlog.ts";
import { startApp, until } from "../../support/app.ts";
import { notificationRow, sentWrites } from "../../support/rows.ts";

test("callers share one count of the backlog, and a later one counts again, also after an error", async () => {
  await using app = await startApp();
  const { storage } = app.services;
  let counts = 0;
  let isDown = false;
  const counted: Storage["all"] = (...read) => {
    counts += 1;
    return isDown ? Promise.reject(new Error("down")) : storage.all(...read);
  };
  const backlog = sharedBacklog({ ...storage, all: counted }, () => app.clock.now());
  const both = await Promise.all([backlog(), backlog()]);
  expect(both.map(({ dead }) => dead)).toEqual([0, 0]);
  expect(counts).toBe(1);
  await storage.atomically(...sentWrites(notificationRow(1), { status: "dead" }));
  await until(async () => (await backlog()).dead === 1);
  isDown = true;
  await until(() =>
    backlog().then(
      () => false,
      () => true,
    ),
  );
  isDown = false;
  await until(() =>
    backlog().then(
      ({ dead }) => dead === 1,
      () => false,
    ),
  );
});
