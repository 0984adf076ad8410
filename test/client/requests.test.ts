import { expect, test } from "bun:test";
import { getEventListeners } from "node:events";

import { SkyhookError } from "../../src/client/errors.ts";
import { pause, sender } from "../../src/client/requests.ts";

test("pauses leave nothing behind on a signal that outlives them", async () => {
  const stop = new AbortController();
  for (let n = 0; n < 3; n += 1) await pause(0, stop.signal);
  const aborted = pause(60_000, stop.signal);
  expect(getEventListeners(stop.signal, "abort")).toHaveLength(1);
  stop.abort(new Error("stopped"));
  for (const pausing of [aborted, pause(60_000, stop.signal)])
    expect(await pausing.catch(String)).toBe("Error: stopped");
});

test("a server that cannot be reached is an error with its address", async () => {
  const send = sender({ baseUrl: "http://127.0.0.1:1", maxAttempts: 1, token: undefined }, []);
  const error: unknown = await send(new Request("http://127.0.0.1:1/v1/events?q=a")).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SkyhookError);
  expect(error).toMatchObject({ code: "unreachable", status: 0, cause: expect.any(Error) });
  expect(String(error)).toContain("http://127.0.0.1:1 cannot be reached: ");
  expect(String(error)).not.toContain("q=a");
});

test("an aborted request keeps the reason of its signal", async () => {
  const send = sender({ baseUrl: "http://127.0.0.1:1" }, []);
  const signal = AbortSignal.abort(new Error("stopped"));
  const aborted = send(new Request("http://127.0.0.1:1/", { signal }));
  expect(await aborted.catch(String)).not.toContain("cannot be reached");
});
