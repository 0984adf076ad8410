import { Elysia } from "elysia";

import type { Clock } from "../../base/clock.ts";
import { retriedSchema } from "../../outbound/destinations/destination.schema.ts";
import { type Callers, operatorsOnly, routes } from "../../web/rest/route.ts";

import { issueParams, issueSchema, issuesSchema, muteSchema } from "./issue.ts";
import type { IssueService } from "./issues.ts";
import { muteEnd } from "./mute-end.ts";

/** What is wrong now, for operators. */
export const issuesRest = (issues: IssueService, callers: Callers, clock: Clock) => {
  const { route } = routes(callers, "Issues and health", operatorsOnly);
  const one = { params: issueParams, problems: [404] } as const;
  return new Elysia({ name: "issues", prefix: "/v1/issues" })
    .get(
      "",
      ...route("listIssues", "List what is wrong now", {
        description: "Grouped by cause. At most 200, and 50 causes of each destination.",
        response: issuesSchema,
        serve: ({ ctx }) => issues.list(ctx),
      }),
    )
    .post(
      "/:id/retry",
      ...route("retryIssue", "Send the deliveries of an issue again, now", {
        ...one,
        response: retriedSchema,
        serve: ({ ctx, params }) => issues.retry(ctx, params.id),
      }),
    )
    .post(
      "/:id/mute",
      ...route("muteIssue", "Hide an issue in the console until a time", {
        ...one,
        body: muteSchema,
        response: issueSchema,
        serve: ({ ctx, params, body }) => issues.mute(ctx, params.id, muteEnd(body, clock.now())),
      }),
    )
    .post(
      "/:id/unmute",
      ...route("unmuteIssue", "Show a muted issue again", {
        ...one,
        response: issueSchema,
        serve: ({ ctx, params }) => issues.mute(ctx, params.id, null),
      }),
    );
};
