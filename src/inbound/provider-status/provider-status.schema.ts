import type { Static } from "@sinclair/typebox";

import { count, flag, instant, listOf, nullable, resource, text } from "../../web/schema.ts";
import { reconciliationSchema } from "../model/reconciliation.ts";

const currentSecretSchema = resource("CurrentSecret", "The current secret.", {
  present: flag("Whether it is set."),
  lastMatchedAt: nullable(instant(), "When a delivery last verified with it; null if none did."),
});

const rotationSchema = resource("SecretRotation", "The progress of a secret rotation.", {
  current: currentSecretSchema,
  previous: resource("PreviousSecret", "The previous secret, accepted during a rotation.", {
    ...currentSecretSchema.properties,
    safeToRemove: flag(
      "Whether the current secret has matched since and this one has not matched for 24 hours.",
    ),
  }),
});

export interface Rotation extends Static<typeof rotationSchema> {}

const providerStatusSchema = resource("ProviderStatus", "The status of a registered provider.", {
  provider: text("The provider's name in paths and events.", "code_host"),
  displayName: text("The name for display.", "GitHub"),
  hasSecret: flag("Without a secret its webhooks get 503."),
  lastEventAt: nullable(instant(), "Time of receipt of its last event."),
  usualIntervalSeconds: nullable(
    count("The usual interval between deliveries; null if there were too few.", 1200),
  ),
  silentForSeconds: nullable(
    count("Time since the last verified delivery; null if there never was one.", 93_600),
  ),
  isSilent: flag(
    "Whether it has been silent for ten usual intervals and longer than any pause of the last 14 days.",
  ),
  secrets: rotationSchema,
  reconciliation: nullable(
    reconciliationSchema,
    "Null if its log is not compared: it has none, or no token is set.",
  ),
});

export interface ProviderStatus extends Static<typeof providerStatusSchema> {}

/** Whether a provider is silent. */
export type Silence = Pick<
  ProviderStatus,
  "usualIntervalSeconds" | "silentForSeconds" | "isSilent"
>;

export const providerStatusesSchema = resource("ProviderStatuses", "Every registered provider.", {
  data: listOf(providerStatusSchema),
});

export interface ProviderStatuses extends Static<typeof providerStatusesSchema> {}
