import { Type } from "@sinclair/typebox";

import {
  count,
  documented,
  instant,
  listOf,
  nullable,
  prefixedId,
  schemaOf,
  text,
  word,
} from "../../web/schema.ts";

import { type Issue, issueKinds, type Issues } from "./issue.ts";

export const issueSchema = schemaOf<Issue>()(
  "Issue",
  "Failures of one kind with the same cause, at one provider or destination.",
  {
    id: prefixedId("iss_", { description: "The same while the issue lasts." }),
    kind: word(issueKinds, {
      description:
        "`circuit-open`: sending is suspended. `dead-letters`: all attempts failed. `rejected`: deliveries failed verification within 24 hours. `provider-silent`: no deliveries for longer than usual. `retrying`: attempts failed, more follow.",
    }),
    cause: text("The reason of a rejection, or the destination's answer.", "HTTP 503"),
    provider: nullable(text("The provider whose deliveries are affected; null for all.")),
    destinationId: nullable(
      prefixedId<NonNullable<Issue["destinationId"]>>("dst_", {
        description: "The destination that fails; null if the failure is on receipt.",
      }),
    ),
    destination: nullable(text("The destination's name.", "deploys")),
    count: count("Deliveries that are affected.", 12),
    hasMore: Type.Boolean({ description: "Whether there are more: only the newest are read." }),
    firstSeenAt: instant({ description: "The oldest of these deliveries." }),
    lastSeenAt: instant({ description: "The newest of these deliveries." }),
    advice: text("What to do.", "The destination failed: check its log."),
    eventId: nullable(
      prefixedId<NonNullable<Issue["eventId"]>>("evt_", { description: "The latest event." }),
    ),
    rejectionId: nullable(
      prefixedId<NonNullable<Issue["rejectionId"]>>("rej_", {
        description: "The latest rejected delivery.",
      }),
    ),
    canRetry: Type.Boolean({ description: "Whether its deliveries can be sent again." }),
    mutedUntil: nullable(instant({ description: "Hidden in the console until then." })),
  },
);

export const issuesSchema = schemaOf<Issues>()("Issues", "What is wrong now.", {
  data: listOf(issueSchema, { description: "The most urgent first; muted ones last." }),
});

export const issueParams = documented(Type.Object({ id: text("The issue's id.") }));

/** The longest that an issue can be muted. */
export const maxMuteDays = 30;

export const muteSchema = Type.Object({
  until: Type.String({
    format: "date-time",
    description: `When it is shown again, at most ${maxMuteDays} days from now.`,
    examples: ["2026-12-01T08:00:00.000Z"],
  }),
});
