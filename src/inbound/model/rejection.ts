import { type Static, Type } from "@sinclair/typebox";

import { defineTable, personal, type Stored } from "../../db/table.ts";
import { count, instant, mapOf, prefixedId, resource, text, word } from "../../web/schema.ts";

import { rejectionReasons } from "./rejection-reasons.ts";

export type RejectionReason = (typeof rejectionReasons)[number];

/** Stored so that operators can find the cause. */
export const rejectionSchema = resource("Rejection", "A rejected delivery.", {
  id: prefixedId("rej_", "Sorts by time of receipt."),
  provider: personal(
    "none",
    text("The provider in the request's path, or `unknown`.", "code_host"),
  ),
  createdAt: instant("Time of receipt."),
  reason: word(rejectionReasons, "Why it was rejected. Not sent to the sender."),
  address: personal("pseudonym", text("The client's address.", "192.0.2.1")),
  requestId: personal("none", text("The request id, as in the log.")),
  headers: personal(
    "text",
    mapOf(
      Type.String(),
      "Request headers by lower-case name. The value is empty unless the provider reads the header or it is known to hold no secret. `:path` is the path, if it names no provider.",
    ),
  ),
  bodyBytes: count("Size of the body in bytes.", 1024),
});

export interface Rejection extends Static<typeof rejectionSchema> {}

export const rejectionsTable = defineTable("rejections", {
  ...rejectionSchema.properties,
  /**
   * What the signature is made of, as sent: headers by lower-case name and, where they are signed, `:method` and `:url`.
   * Empty for secrets that are sent themselves.
   */
  signatures: personal("text", mapOf(Type.String(), "Signed values by name.")),
  /** Null if the body was too large to store. */
  body: "bytes or null: text",
});

/** A rejection with the data needed to explain later why it did not verify. */
export interface StoredRejection extends Stored<typeof rejectionsTable> {}
