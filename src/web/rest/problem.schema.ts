import { type TSchema, Type } from "@sinclair/typebox";

import type { FieldError } from "../../base/errors.ts";
import { count, documented, listOf, schemaOf, text, word } from "./schema.ts";

import { isErrorCode, type ProblemBody, problems } from "./errors.ts";

const fieldErrorSchema = Type.Unsafe<FieldError>(
  Type.Object(
    {
      code: text("What is wrong with it.", "rule-broken"),
      detail: text("The same in words.", "5 to 9 letters and digits"),
      parameter: Type.Optional(text("Name of the parameter or header.")),
      pointer: Type.Optional(
        text("JSON Pointer (RFC 6901) into the body.", "/passengers/0/passportNumber"),
      ),
    },
    { $id: "FieldError", description: "One field or parameter at fault." },
  ),
);

export const problemSchema = schemaOf<ProblemBody>()("Problem", "Every error (RFC 9457).", {
  type: text("Leads to a page that explains the error.", "/problems/flight-not-found"),
  title: text("The error's name.", "Flight not found"),
  status: Type.Integer({ minimum: 400, maximum: 599, description: "As HTTP's.", examples: [404] }),
  detail: text("What to do about it.", "There is no such flight"),
  instance: text("Names this one request.", "urn:skyhook:request:req_01"),
  code: word(Object.keys(problems).filter(isErrorCode), {
    description: "What programs should look at.",
  }),
  requestId: text("As in `X-Request-Id` and in the log.", "req_01"),
  errors: Type.Optional(listOf(fieldErrorSchema)),
  seatsAvailable: Type.Optional(count("Seats left; with `no-seats`.", 1)),
  error: Type.Optional(text("The error's name in OAuth 2.0.", "invalid_client")),
});

/** Problems are made in one place, so no route checks its own; to compile that check for each costs its first caller. */
const documentedProblem = documented(problemSchema);

type Problems<Status extends number> = { [S in Status]: typeof problemSchema };

/** The answers of an operation that fail, by status; any may fail with 400, 500 and 503. */
export function problemResponses<const Status extends number>(
  ...statuses: readonly Status[]
): Problems<Status | 400 | 500 | 503> {
  const entries: [number, TSchema][] = [400, ...statuses, 500, 503].map((s) => [
    s,
    documentedProblem,
  ]);
  // The keys are the statuses given and the three that were added.
  return Object.fromEntries(entries) as Problems<Status | 400 | 500 | 503>;
}

/** The same for an operation whose answers are written out by hand. */
export function problemReferences(...statuses: readonly number[]) {
  return Object.fromEntries(
    [...statuses, 500, 503].map((status) => [
      status,
      { $ref: `#/components/responses/${problemResponseNames[status]}` },
    ]),
  );
}

/** What the failures of a status are called in the API documents. */
export const problemResponseNames: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  413: "ContentTooLarge",
  415: "UnsupportedMediaType",
  422: "UnprocessableContent",
  429: "TooManyRequests",
  500: "InternalServerError",
  503: "ServiceUnavailable",
};
