import { prefixedId, schemaOf, text, word } from "../../web/schema.ts";
import type { Acknowledgement } from "../webhook-request.ts";

export const acknowledgementSchema = schemaOf<Acknowledgement>()(
  "Acknowledgement",
  "Returned only after the event is on disk.",
  {
    status: word(["accepted", "duplicate", "ignored"]),
    id: prefixedId("evt_", {
      description: "The stored event. For a duplicate, the first one.",
    }),
    idempotencyKey: text(
      "Provider and delivery id, or the hash of the body.",
      "code_host:72d3162e",
    ),
    event: text("The event's type.", "pull_request.opened"),
  },
);
