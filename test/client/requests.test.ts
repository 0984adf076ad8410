import { expect, test } from "bun:test";
import { getEventListeners } from "node:events";

import { pause } from "../../src/client/requests.ts";

test("pauses leave nothing behind on a signal that outlives them", async () => {
  const stop = new AbortController();
  for (let n = 0; n < 3; n += 1) await pause(0, stop.signal);
  const aborted = pause(60_000, stop.signal);
  expect(getEventListeners(stop.signal, "abort")).toHaveLength(1);
  stop.abort(new Error("stopped"));
  for (const pausing of [aborted, pause(60_000, stop.signal)])
    expect(await pausing.catch(String)).toBe("Error: stopped");
});
