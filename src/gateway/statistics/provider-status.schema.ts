import { Type } from "@sinclair/typebox";

import { count, instant, listOf, nullable, schemaOf, text } from "../../web/rest/schema.ts";

import type { ProviderStatus, ProviderStatuses } from "./provider-status.ts";
import type { Rotation, SecretStatus } from "./rotation.ts";

const secretFields = {
  present: Type.Boolean({ description: "Whether it is set." }),
  lastMatchedAt: nullable(instant(), {
    description: "When a delivery last verified with it; null when none did.",
  }),
};

const rotationSchema = schemaOf<Rotation>()(
  "SecretRotation",
  "How far the change from one secret to the next has come.",
  {
    current: schemaOf<SecretStatus>()("CurrentSecret", "The secret in use.", secretFields),
    previous: schemaOf<Rotation["previous"]>()(
      "PreviousSecret",
      "The secret of before, accepted while a rotation is under way.",
      {
        ...secretFields,
        safeToRemove: Type.Boolean({
          description:
            "The current secret has matched since, and this one has matched nothing for 24 hours.",
        }),
      },
    ),
  },
);

const providerStatusSchema = schemaOf<ProviderStatus>()(
  "ProviderStatus",
  "How a registered provider is doing.",
  {
    provider: text("Its name in addresses and events.", "code_host"),
    displayName: text("What people call it.", "Code host (GitHub)"),
    hasSecret: Type.Boolean({ description: "Without one it answers 503." }),
    lastEventAt: nullable(instant(), { description: "When its last event came." }),
    usualIntervalSeconds: nullable(
      count("How often deliveries usually come; null where too few came to say.", 1200),
    ),
    silentForSeconds: nullable(
      count("Since the last delivery that verified; null when there never was one.", 93_600),
    ),
    isSilent: Type.Boolean({
      description: "For ten usual intervals, and longer than any pause of the last 14 days.",
    }),
    secrets: rotationSchema,
  },
);

export const providerStatusesSchema = schemaOf<ProviderStatuses>()(
  "ProviderStatuses",
  "Every registered provider.",
  { data: listOf(providerStatusSchema) },
);
