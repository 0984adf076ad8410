import { AppError } from "../../base/errors.ts";
import { isoTime } from "../../base/times.ts";

import { maxMuteDays } from "./issue.ts";

const dayMs = 86_400_000;

/** When a mute ends, from the body of a request. Throws `validation-failed`. */
export function muteEnd(body: unknown, nowMs: number): Date {
  const { until }: { until?: unknown } = typeof body === "object" && body !== null ? body : {};
  const time = typeof until === "string" ? isoTime(until) : null;
  const aheadMs = (time?.getTime() ?? 0) - nowMs;
  if (time !== null && aheadMs > 0 && aheadMs <= maxMuteDays * dayMs) return time;
  const detail = `Must be an ISO 8601 instant within the next ${maxMuteDays} days`;
  const error = { pointer: "/until", code: "rule-broken", detail };
  throw new AppError("validation-failed", `/until: ${detail}`, { errors: [error] });
}
