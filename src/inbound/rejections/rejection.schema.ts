import { type Static, Type } from "@sinclair/typebox";

import { bodyReader } from "../../base/validation.ts";
import { pageOf } from "../../web/page.schema.ts";
import { documented, listOf, nullable, resource, text, word } from "../../web/schema.ts";
import { rejectionSchema } from "../model/rejection.ts";
import { maxSecretCharacters } from "../signatures/usable-secret.ts";

import { causes } from "./causes.ts";
import { explanationSchema } from "./explanation.ts";

const listedRejectionSchema = resource("ListedRejection", "A rejected delivery in a list.", {
  ...rejectionSchema.properties,
  cause: Type.Optional(
    nullable(
      word(causes, "The cause, as far as found. Only with `include=cause`; null if not known yet."),
    ),
  ),
  type: Type.Optional(
    nullable(
      text(
        "The event that the body claims to be, or the unknown path. Only with `include=cause`.",
        "push",
      ),
    ),
  ),
});

export interface ListedRejection extends Static<typeof listedRejectionSchema> {}

export const explainedRejectionSchema = resource(
  "ExplainedRejection",
  "A rejected delivery with the received data and its explanation.",
  {
    ...rejectionSchema.properties,
    // The values may be valid for another body.
    signatureHeaders: listOf(
      Type.String(),
      "The names of the signature headers sent, without values.",
    ),
    body: nullable(text("The exact bytes received; null if not stored.", "{}")),
    bodyEncoding: word(["utf-8", "base64"], "Encoding of `body`."),
    bodyPretty: nullable(
      text(
        "The body as indented JSON; null if it is not JSON or nested deeper than 16 levels.",
        "{}",
      ),
    ),
    explanation: explanationSchema,
  },
);

export interface ExplainedRejection extends Static<typeof explainedRejectionSchema> {}

export const rejectionParams = documented(
  Type.Object({ id: text("The rejection's id.", "rej_019377b07d4070008000000000000001") }),
);

export const triedSecretSchema = Type.Object(
  {
    secret: Type.String({
      minLength: 1,
      maxLength: maxSecretCharacters,
      errorMessage: `Write 1 to ${maxSecretCharacters} characters`,
      description: "What the service may have signed with. It is neither stored nor logged.",
    }),
  },
  { $id: "TriedSecret", description: "A secret to try.", examples: [{ secret: "whsec_MfKQ9r8G" }] },
);

export const readTriedSecret = bodyReader(triedSecretSchema, "validation-failed");

export const rejectionPageSchema = pageOf(listedRejectionSchema);
