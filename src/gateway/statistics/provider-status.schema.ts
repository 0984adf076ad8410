import { Type } from "@sinclair/typebox";

import { count, instant, listOf, nullable, schemaOf, text } from "../../web/rest/schema.ts";

import type { ProviderStatus, ProviderStatuses } from "./provider-status.ts";
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
  },
);

export const providerStatusesSchema = schemaOf<ProviderStatuses>()(
  "ProviderStatuses",
  "Every registered provider.",
  { data: listOf(providerStatusSchema) },
);
