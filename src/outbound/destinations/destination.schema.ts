import { Type } from "@sinclair/typebox";

import {
  count,
  documented,
  instant,
  nullable,
  prefixedId,
  schemaOf,
  text,
  word,
} from "../../web/schema.ts";
import { type Destination, destinationStates } from "../destination.ts";
import type { FilterExplanation } from "../filters/filter.ts";
import { formatNames } from "../formats/formats.ts";

import type { DestinationWithSecret } from "./destinations.ts";

export const destinationFields = {
  id: prefixedId<Destination["id"]>("dst_", { description: "The destination's id." }),
  name: text("Unique among the destinations of its owner.", "deploys"),
  ownerId: nullable(text("The user whose booking events it receives; null for the operators'.")),
  format: word(formatNames, { description: "Format of its messages." }),
  address: text("The address without its secret parts.", "https://hooks.slack.com/…"),
  filter: nullable(text("The expression that an event must match.", 'event.severity == "error"')),
  orderBy: nullable(
    text("The field by which deliveries keep their order; null for none.", "event.subject"),
  ),
  ratePerSecond: nullable(count("Deliveries per second; null for no limit.", 5)),
  maxConcurrent: count("Deliveries at the same time, per process.", 8),
  alerts: Type.Boolean({ description: "Whether it receives alerts about Skyhook itself." }),
  state: word(destinationStates, {
    description: "`paused`: deliveries wait. `disabled`: none are stored.",
  }),
  createdAt: instant({ description: "Time of creation." }),
  updatedAt: instant({ description: "When it last changed." }),
  failures: count("Failed attempts since the last success.", 0),
  openUntil: nullable(instant(), {
    description:
      "Set after ten failures in a row: until then nothing is sent, then one probe at a time.",
  }),
};

export const destinationSchema = schemaOf<Destination>()(
  "Destination",
  "Where notifications are sent, which ones, and how fast.",
  destinationFields,
);

export const destinationWithSecretSchema = schemaOf<DestinationWithSecret>()(
  "DestinationWithSecret",
  "A destination and its secret, which is shown only here.",
  {
    ...destinationFields,
    secret: nullable(
      text(
        "The signing secret (Standard Webhooks); null if the format has none, and for a retry with the same Idempotency-Key.",
      ),
    ),
  },
);

export const filterExplanationSchema = schemaOf<FilterExplanation>()(
  "FilterExplanation",
  "Why a filter does not match.",
  {
    clause: text("The part that decided.", 'event.severity == "error"'),
    values: Type.Record(
      Type.String(),
      Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]),
      { description: "The values that this part read, by path." },
    ),
  },
);

export const destinationParams = documented(
  Type.Object({ id: text("The destination's id.", "dst_019377b07d4070008000000000000001") }),
);
