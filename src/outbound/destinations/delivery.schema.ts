import { Type } from "@sinclair/typebox";

import { pageOf, pageParameters } from "../../web/rest/page.schema.ts";
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
import { notificationStatuses } from "../notification-words.ts";
import { attemptSchema, notificationFields } from "../notifications/notification.schema.ts";

import type { ListedDelivery, TestResult } from "./destination-deliveries.ts";

const { status, attemptCount, dueAt, deliveredAt, lastError, eventId, title, severity } =
  notificationFields;

const deliverySchema = schemaOf<ListedDelivery>()(
  "Delivery",
  "One notification on its way to one destination.",
  {
    id: prefixedId("dlv_", { description: "The delivery's id." }),
    destinationId: prefixedId("dst_", {
      description: "The destination.",
    }),
    notificationId: prefixedId("ntf_", {
      description: "The notification.",
    }),
    eventId,
    createdAt: instant({ description: "Time of creation." }),
    status,
    attemptCount,
    dueAt,
    deliveredAt,
    lastError,
    title,
    severity,
    attempts: Type.Optional(
      listOf(attemptSchema, {
        description: "Oldest first, at most the last 20. Only with `include=attempts`.",
      }),
    ),
  },
);

export const deliveryPageSchema = pageOf(deliverySchema);

export const deliveryListQuery = documented(
  Type.Object({
    ...pageParameters,
    include: Type.Optional(
      text(
        "`attempts` adds the attempts of each delivery, `total` the number of deliveries; or both.",
        "attempts",
        "total,attempts",
      ),
    ),
    status: Type.Optional(
      word(notificationStatuses, { description: "Only deliveries with this status." }),
    ),
  }),
);

export const retriedSchema = schemaOf<{ readonly retried: number }>()(
  "Retried",
  "How many deliveries are sent again.",
  { retried: count("Dead deliveries that are due again.", 3) },
);

export const testResultSchema = schemaOf<TestResult>()(
  "DestinationTest",
  "The answer to a test notification.",
  {
    delivered: Type.Boolean({ description: "Whether the destination accepted it." }),
    responseStatus: nullable(count("The HTTP status; null if it did not respond.", 200)),
    error: nullable(text("What went wrong.")),
    durationMs: count("Duration in milliseconds.", 120),
  },
);
