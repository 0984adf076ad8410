import { type BackgroundTask, backgroundTask } from "../base/background-task.ts";
import type { Clock } from "../base/clock.ts";
import { errorMessage } from "../base/errors.ts";
import { withTimeout } from "../base/in-time.ts";
import { poster } from "../outbound/transports/post.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";

interface Parts {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Returns what is wrong, in words that stay the same while it lasts; null if all is well. */
type Check = () => Promise<string | null>;

const intervalMs = 60_000;
const checkTimeoutMs = 10_000;

/**
 * Calls a URL each minute while all is well: a service that expects the calls notices what alerts from inside cannot say,
 * such as that this process is gone. Each instance calls it, for the first time a minute after its start.
 */
export function heartbeat(
  url: string,
  { clock, log, metrics }: Parts,
  checks: readonly Check[],
): Pick<BackgroundTask, "start" | "stop"> {
  const post = poster({ clock, addressesOf: async () => null });
  const failures = metrics.counter({
    name: "skyhook_heartbeat_failures_total",
    help: "Calls of HEARTBEAT_URL that failed",
  });
  let known: string | null = null;

  /** The result does not repeat the URL, which may hold a token. */
  async function call(signal: AbortSignal): Promise<string | null> {
    const request = { method: "GET", headers: {}, body: "" } as const;
    const { status } = await post(new URL(url), request, signal);
    return status >= 200 && status < 300 ? null : `HTTP ${status}`;
  }

  const task = backgroundTask(clock, async (signal) => {
    const unknown = () => `no answer of the database within ${checkTimeoutMs / 1_000} s`;
    const trouble = await withTimeout(firstOf(checks), checkTimeoutMs, unknown);
    const failure = trouble === null ? await call(signal).catch(errorMessage) : null;
    if (failure !== null) failures.inc();
    const reason = trouble ?? failure;
    if (reason === known || signal.aborted) return intervalMs;
    known = reason;
    if (reason === null) log.info("heartbeat sent again");
    else
      log.warn({ reason }, failure === null ? "heartbeat withheld" : "heartbeat failed; retrying");
    return intervalMs;
  });
  return { start: () => task.start(intervalMs), stop: () => task.stop() };
}

async function firstOf(checks: readonly Check[]): Promise<string | null> {
  for (const check of checks) {
    const trouble = await check().catch(errorMessage);
    if (trouble !== null) return trouble;
  }
  return null;
}
