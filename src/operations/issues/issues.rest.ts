import { Elysia } from "elysia";

import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { instantIn } from "../../base/parameters.ts";
import { retriedSchema } from "../../outbound/destinations/delivery.schema.ts";
import { type Authenticated, operations, operatorsOnly } from "../../web/rest/auth.ts";
import type { AddressOf } from "../../web/rest/client-address.ts";
import { readJson } from "../../web/rest/json-body.ts";
import { problemResponses } from "../../web/rest/problem.schema.ts";
import { documented } from "../../web/schema.ts";

import { issueParams, issueSchema, issuesSchema, maxMuteDays, muteSchema } from "./issue.schema.ts";
import type { IssueService } from "./issues.ts";

const operation = operations("Operators", operatorsOnly);
const dayMs = 86_400_000;

/** What is wrong now, for operators. */
export const issuesRest = (
  issues: IssueService,
  authenticated: Authenticated,
  addressOf: AddressOf,
  clock: Clock,
) =>
  new Elysia({ name: "issues", prefix: "/v1/issues" })
    .get("", async (exchange) => issues.list(await authenticated(exchange)), {
      response: { 200: issuesSchema, ...problemResponses(401, 403) },
      detail: operation(
        "listIssues",
        "List what is wrong now",
        "Grouped by cause. At most 200, and 50 causes of each destination.",
      ),
    })
    .post(
      "/:id/retry",
      async (exchange) => issues.retry(await authenticated(exchange), exchange.params.id),
      {
        parse: "none",
        params: issueParams,
        response: { 200: retriedSchema, ...problemResponses(401, 403, 404, 429) },
        detail: operation("retryIssue", "Send the deliveries of an issue again, now"),
      },
    )
    .post(
      "/:id/mute",
      async (exchange) => {
        const ctx = await authenticated(exchange);
        const body = await readJson(exchange.request, addressOf(exchange));
        return issues.mute(ctx, exchange.params.id, untilOf(body, clock.now()));
      },
      {
        parse: "none",
        params: issueParams,
        body: documented(muteSchema),
        response: { 200: issueSchema, ...problemResponses(401, 403, 404, 413, 415, 422, 429) },
        detail: operation("muteIssue", "Hide an issue in the console until a time"),
      },
    )
    .post(
      "/:id/unmute",
      async (exchange) => issues.mute(await authenticated(exchange), exchange.params.id, null),
      {
        parse: "none",
        params: issueParams,
        response: { 200: issueSchema, ...problemResponses(401, 403, 404, 429) },
        detail: operation("unmuteIssue", "Show a muted issue again"),
      },
    );

function untilOf(body: unknown, nowMs: number): Date {
  const { until }: { until?: unknown } = typeof body === "object" && body !== null ? body : {};
  const time = typeof until === "string" ? instantIn(until) : null;
  const aheadMs = time === null ? 0 : time.getTime() - nowMs;
  if (time !== null && aheadMs > 0 && aheadMs <= maxMuteDays * dayMs) return time;
  const detail = `Must be an ISO 8601 instant within the next ${maxMuteDays} days`;
  const error = { pointer: "/until", code: "rule-broken", detail };
  throw new AppError("validation-failed", `/until: ${detail}`, { errors: [error] });
}
