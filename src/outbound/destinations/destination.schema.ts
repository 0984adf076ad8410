import { type Static, Type } from "@sinclair/typebox";

import { documented, nullable, resource, text } from "../../web/schema.ts";
import { destinationSchema } from "../destination.ts";

export const destinationWithSecretSchema = resource(
  "DestinationWithSecret",
  "A destination and its secret, which is shown only here.",
  {
    ...destinationSchema.properties,
    secret: nullable(
      text(
        "The signing secret (Standard Webhooks); null if the format has none, and for a retry with the same Idempotency-Key.",
      ),
    ),
  },
);

export interface DestinationWithSecret extends Static<typeof destinationWithSecretSchema> {}

export const destinationParams = documented(
  Type.Object({ id: text("The destination's id.", "dst_019377b07d4070008000000000000001") }),
);
