import { type Static, Type } from "@sinclair/typebox";

import { defineTable, type Stored } from "../../db/table.ts";
import {
  count,
  documented,
  flag,
  instant,
  listOf,
  nullable,
  prefixedId,
  resource,
  text,
  word,
} from "../../web/schema.ts";

/** What is wrong, most urgent first. */
export const issueKinds = [
  "secret-missing",
  "circuit-open",
  "dead-letters",
  "rejected",
  "provider-silent",
  "retrying",
] as const;

export const issueSchema = resource(
  "Issue",
  "Failures of one kind with the same cause, at one provider or destination.",
  {
    // A hash of kind, cause, provider and destination.
    id: prefixedId("iss_", "The same while the issue lasts."),
    kind: word(
      issueKinds,
      "`secret-missing`: webhooks of the provider get 503. `circuit-open`: sending is suspended. `dead-letters`: all attempts failed. `rejected`: deliveries failed verification within 24 hours. `provider-silent`: no deliveries for longer than usual. `retrying`: attempts failed, more follow.",
    ),
    cause: text("The reason of a rejection, or the destination's answer.", "HTTP 503"),
    provider: nullable(text("The provider whose deliveries are affected; null for all.")),
    destinationId: nullable(
      prefixedId("dst_", "The destination that fails; null if the failure is on receipt."),
    ),
    destination: nullable(text("The destination's name.", "deploys")),
    count: count("Deliveries that are affected.", 12),
    hasMore: flag("Whether there are more: only the newest are read."),
    firstSeenAt: instant("The oldest of these deliveries."),
    lastSeenAt: instant("The newest of these deliveries."),
    advice: text("What to do.", "The destination failed: check its log."),
    eventId: nullable(prefixedId("evt_", "The latest event.")),
    rejectionId: nullable(prefixedId("rej_", "The latest rejected delivery.")),
    canRetry: flag("Whether its deliveries can be sent again."),
    mutedUntil: nullable(instant("Hidden in the console until then.")),
  },
);

export interface Issue extends Static<typeof issueSchema> {}

export const issuesSchema = resource("Issues", "What is wrong now.", {
  data: listOf(issueSchema, "The most urgent first; muted ones last."),
});

export interface Issues extends Static<typeof issuesSchema> {}

/** Issues that operators have hidden until a time. */
export const mutesTable = defineTable(
  "mutes",
  {
    issueId: issueSchema.properties.id,
    until: "instant",
  },
  ["issueId"],
);

export interface Mute extends Stored<typeof mutesTable> {}

export const issueParams = documented(
  Type.Object({ id: text("The issue's id.", "iss_3f9a1c7be0d25486a9c1f0e2") }),
);

/** The longest that an issue can be muted. */
export const maxMuteDays = 30;

export const muteSchema = Type.Object({
  until: Type.String({
    format: "date-time",
    description: `When it is shown again, at most ${maxMuteDays} days from now.`,
    examples: ["2026-12-01T08:00:00.000Z"],
  }),
});
