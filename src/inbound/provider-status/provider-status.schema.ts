import { Type } from "@sinclair/typebox";

import { count, instant, listOf, nullable, schemaOf, text } from "../../web/schema.ts";

import type { ProviderStatus, ProviderStatuses, ReconciliationStatus } from "./provider-status.ts";
import type { Rotation, SecretStatus } from "./rotation.ts";

const secretFields = {
  present: Type.Boolean({ description: "Whether it is set." }),
  lastMatchedAt: nullable(instant(), {
    description: "When a delivery last verified with it; null if none did.",
  }),
};

const rotationSchema = schemaOf<Rotation>()(
  "SecretRotation",
  "The progress of a secret rotation.",
  {
    current: schemaOf<SecretStatus>()("CurrentSecret", "The current secret.", secretFields),
    previous: schemaOf<Rotation["previous"]>()(
      "PreviousSecret",
      "The previous secret, accepted during a rotation.",
      {
        ...secretFields,
        safeToRemove: Type.Boolean({
          description:
            "Whether the current secret has matched since and this one has not matched for 24 hours.",
        }),
      },
    ),
  },
);

const reconciliationSchema = schemaOf<ReconciliationStatus>()(
  "ReconciliationStatus",
  "How far the provider's log was compared with what arrived.",
  {
    coveredUntil: nullable(instant(), {
      description: "Everything that the provider sent before is stored; null before the first run.",
    }),
    checkedAt: nullable(instant(), { description: "End of the last run, complete or not." }),
    succeededAt: nullable(instant(), { description: "End of the last complete run." }),
    nextRunAt: instant({ description: "When the next run is due." }),
    pausedUntil: nullable(instant(), {
      description: "The API's rate limit is reached until then.",
    }),
    error: nullable(text("Why the last run failed.", "api.github.com answers 401")),
    recovered: count("Deliveries recovered so far.", 3),
  },
);

const providerStatusSchema = schemaOf<ProviderStatus>()(
  "ProviderStatus",
  "The status of a registered provider.",
  {
    provider: text("The provider's name in paths and events.", "code_host"),
    displayName: text("The name for display.", "Code host (GitHub)"),
    hasSecret: Type.Boolean({ description: "Without a secret its webhooks get 503." }),
    lastEventAt: nullable(instant(), { description: "Time of receipt of its last event." }),
    usualIntervalSeconds: nullable(
      count("The usual interval between deliveries; null if there were too few.", 1200),
    ),
    silentForSeconds: nullable(
      count("Time since the last verified delivery; null if there never was one.", 93_600),
    ),
    isSilent: Type.Boolean({
      description:
        "Whether it has been silent for ten usual intervals and longer than any pause of the last 14 days.",
    }),
    secrets: rotationSchema,
    reconciliation: nullable(reconciliationSchema, {
      description: "Null if its log is not compared: it has none, or no token is set.",
    }),
  },
);

export const providerStatusesSchema = schemaOf<ProviderStatuses>()(
  "ProviderStatuses",
  "Every registered provider.",
  { data: listOf(providerStatusSchema) },
);
