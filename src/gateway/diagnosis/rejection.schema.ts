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
} from "../../web/rest/schema.ts";

import { type Rejection, rejectionReasons } from "../rejection.ts";
import { causes, type ExplainedRejection, type Explanation } from "./explanation.ts";

const rejectionFields = {
  id: prefixedId<Rejection["id"]>("rej_", { description: "Sorts by time of receipt." }),
  provider: text("Whose address it was sent to.", "code_host"),
  createdAt: instant({ description: "When it came." }),
  reason: word(rejectionReasons, { description: "Why; the sender was not told." }),
  address: text("The client's address.", "192.0.2.1"),
  requestId: text("The request's id, as in the log."),
  headers: Type.Record(Type.String(), Type.String(), {
    description:
      "Request headers by lower-case name. The value is empty unless the provider reads it or it is known to hold no secret.",
  }),
  bodyBytes: count("Bytes of the body.", 1024),
};

const rejectionSchema = schemaOf<Rejection>()(
  "Rejection",
  "A delivery that was refused.",
  rejectionFields,
);

const explanationSchema = schemaOf<Explanation>()(
  "Explanation",
  "Why a delivery was refused, worked out with the secrets now in force.",
  {
    cause: word(causes, { description: "What is behind it." }),
    detail: text("One sentence that says what to do."),
  },
);

export const explainedRejectionSchema = schemaOf<ExplainedRejection>()(
  "ExplainedRejection",
  "A delivery that was refused, with what was sent and what is behind it.",
  {
    ...rejectionFields,
    signatureHeaders: listOf(Type.String(), { description: "Names; the values are not shown." }),
    body: nullable(text("The exact bytes received; null when not kept.", "{}")),
    bodyEncoding: word(["utf-8", "base64"], { description: "How `body` is to be read." }),
    bodyPretty: nullable(
      text("For reading; null unless the body is JSON, nested 16 deep at most.", "{}"),
    ),
    explanation: explanationSchema,
  },
);

export const rejectionParams = documented(Type.Object({ id: text("The rejection's id.") }));

export const rejectionPageSchema = pageOf(rejectionSchema);

export const rejectionListQuery = documented(
  Type.Object({ ...pageParameters, provider: Type.Optional(text("Only this provider's.")) }),
);
