import { expect, test } from "bun:test";
import { getEventListeners } from "node:events";

import { pause, systemClock } from "../../src/base/clock.ts";
import { manualClock } from "../support/clock.ts";

test("a pause leaves no listener", async () => {
  const { signal } = new AbortController();
  await pause(systemClock, 1, signal);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("a pause ends when its signal aborts, and at once if it has aborted", async () => {
  const stopping = new AbortController();
  const pausing = pause(manualClock(), 1, stopping.signal);
  stopping.abort();
  await pausing;
  await pause(manualClock(), 1, stopping.signal);
});
