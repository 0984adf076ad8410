import { Type } from "@sinclair/typebox";

import { pageOf, pageParameters } from "../pagination/page.schema.ts";
import { count, documented, instant, prefixedId, schemaOf, text, word } from "../schema.ts";

import type { Acknowledgement } from "./receive.ts";
import { type Rejection, rejectionReasons } from "./rejection.ts";

export const acknowledgementSchema = schemaOf<Acknowledgement>()(
  "Acknowledgement",
  "Given only after the event is on disk.",
  {
    status: word(["accepted", "duplicate", "ignored"]),
    id: prefixedId<Acknowledgement["id"]>("evt_", {
      description: "The stored event; for a duplicate, the first one.",
    }),
    idempotencyKey: text("Provider and delivery id, or hash of the body.", "code_host:72d3162e"),
    event: text("The event's type.", "pull_request.opened"),
  },
);

const rejectionSchema = schemaOf<Rejection>()("Rejection", "A delivery that was refused.", {
  id: prefixedId<Rejection["id"]>("rej_", { description: "Sorts by time of receipt." }),
  provider: text("Whose address it was sent to.", "code_host"),
  createdAt: instant({ description: "When it came." }),
  reason: word(rejectionReasons, { description: "Why; the sender was not told." }),
  address: text("The client's address.", "192.0.2.1"),
  requestId: text("The request's id, as in the log."),
  headers: Type.Record(Type.String(), Type.String(), {
    description: "Request headers by lower-case name, without secrets and signatures.",
  }),
  bodyBytes: count("Bytes of the body.", 1024),
});

export const rejectionPageSchema = pageOf(rejectionSchema);

export const rejectionListQuery = documented(
  Type.Object({ ...pageParameters, provider: Type.Optional(text("Only this provider's.")) }),
);
