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
import { rejectionReasons } from "../rejection-reasons.ts";
import type { Rejection } from "../rejection.ts";

import {
  causes,
  type Checklist,
  type ExplainedRejection,
  type Explanation,
} from "./explanation.ts";

const rejectionFields = {
  id: prefixedId("rej_", { description: "Sorts by time of receipt." }),
  provider: text("The provider in the request's path.", "code_host"),
  createdAt: instant({ description: "Time of receipt." }),
  reason: word(rejectionReasons, { description: "Why it was rejected. Not sent to the sender." }),
  address: text("The client's address.", "192.0.2.1"),
  requestId: text("The request id, as in the log."),
  headers: Type.Record(Type.String(), Type.String(), {
    description:
      "Request headers by lower-case name. The value is empty unless the provider reads the header or it is known to hold no secret.",
  }),
  bodyBytes: count("Size of the body in bytes.", 1024),
};

const rejectionSchema = schemaOf<Rejection>()("Rejection", "A rejected delivery.", rejectionFields);

const explanationSchema = schemaOf<Explanation>()(
  "Explanation",
  "Why a delivery was rejected, determined with the current secrets.",
  {
    cause: word(causes, { description: "The cause." }),
    detail: text("What happened and what to do."),
    checklist: Type.Optional(
      schemaOf<Checklist>()("Checklist", "What was tried, if no cause was found.", {
        finding: text("What happened."),
        ruledOut: listOf(text("What was tried without success.", "reformatted JSON")),
        nextSteps: listOf(text("What to check.")),
      }),
    ),
  },
);

export const explainedRejectionSchema = schemaOf<ExplainedRejection>()(
  "ExplainedRejection",
  "A rejected delivery with the received data and its explanation.",
  {
    ...rejectionFields,
    signatureHeaders: listOf(Type.String(), {
      description: "The names of the signature headers sent, without values.",
    }),
    body: nullable(text("The exact bytes received; null if not stored.", "{}")),
    bodyEncoding: word(["utf-8", "base64"], { description: "Encoding of `body`." }),
    bodyPretty: nullable(
      text(
        "The body as indented JSON; null if it is not JSON or nested deeper than 16 levels.",
        "{}",
      ),
    ),
    explanation: explanationSchema,
  },
);

export const rejectionParams = documented(Type.Object({ id: text("The rejection's id.") }));

export const rejectionPageSchema = pageOf(rejectionSchema);

export const rejectionListQuery = documented(
  Type.Object({
    ...pageParameters,
    provider: Type.Optional(text("Only rejections of this provider.")),
    reason: Type.Optional(word(rejectionReasons, { description: "Only with this reason." })),
    from: Type.Optional(
      instant({ description: "Only deliveries received at this time or later." }),
    ),
    to: Type.Optional(instant({ description: "Only deliveries received before this time." })),
  }),
);
