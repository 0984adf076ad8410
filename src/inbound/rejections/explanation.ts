import { type Static, Type } from "@sinclair/typebox";

import { listOf, resource, text, word } from "../../web/schema.ts";
import type { RejectionReason } from "../model/rejection.ts";

import { causes } from "./causes.ts";

/** For operators. Contains no secret and no valid signature. */
export const explanationSchema = resource(
  "Explanation",
  "Why a delivery was rejected, determined with the current secrets.",
  {
    cause: word(causes, "The cause."),
    detail: text("What happened and what to do."),
    // `detail` says the same in one paragraph.
    checklist: Type.Optional(
      resource("Checklist", "What was tried, if no cause was found.", {
        finding: text("What happened."),
        ruledOut: listOf(text("What was tried without success.", "reformatted JSON")),
        nextSteps: listOf(text("What to check.")),
      }),
    ),
  },
);

export interface Explanation extends Static<typeof explanationSchema> {}

/** The input of an explanation, from a stored rejection or from files. */
export interface RejectedRequest {
  readonly reason: RejectionReason;
  readonly method: string;
  /** The URL as the provider knows it; empty if it was not stored. */
  readonly url: string;
  /** The signature headers, and those of the other headers that were stored. */
  readonly headers: Headers;
  /** Null if the body was too large to store, or was deleted by retention. */
  readonly bytes: Uint8Array | null;
  readonly bodyBytes: number;
  readonly receivedAtMs: number;
}
