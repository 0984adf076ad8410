import { type TSchema, Type } from "@sinclair/typebox";

import type { FieldError } from "../../base/errors.ts";
import { count, documented, listOf, schemaOf, text, word } from "../schema.ts";

import { isErrorCode, type ProblemBody, problems } from "./errors.ts";

const fieldErrorSchema = Type.Unsafe<FieldError>(
  Type.Object(
    {
      code: text("The kind of error.", "rule-broken"),
      detail: text("A description of the error.", "5 to 9 letters and digits"),
      parameter: Type.Optional(text("The name of the parameter or header.")),
      pointer: Type.Optional(
        text("JSON Pointer (RFC 6901) into the body.", "/passengers/0/passportNumber"),
      ),
    },
    { $id: "FieldError", description: "One invalid field or parameter." },
  ),
);

export const problemSchema = schemaOf<ProblemBody>()(
  "Problem",
  "The body of every error response (RFC 9457).",
  {
    type: text("The path of a page that explains the error.", "/problems/flight-not-found"),
    title: text("A short name of the error.", "Flight not found"),
    status: Type.Integer({
      minimum: 400,
      maximum: 599,
      description: "The HTTP status.",
      examples: [404],
    }),
    detail: text("What happened and what to do.", "No flight has this id"),
    instance: text("Identifies this request.", "urn:skyhook:request:req_01"),
    code: word(Object.keys(problems).filter(isErrorCode), {
      description: "The error code, for programs.",
    }),
    requestId: text("The request id, as in the header `X-Request-Id` and in the log.", "req_01"),
    errors: Type.Optional(listOf(fieldErrorSchema)),
    seatsAvailable: Type.Optional(count("The number of seats left, with `no-seats`.", 1)),
    error: Type.Optional(text("The error code of OAuth 2.0.", "invalid_client")),
  },
);

/**
 * Not validated: one function makes all problems, and each compiled schema slows the first response of a
 * route.
 */
const documentedProblem = documented(problemSchema);

export type Problems<Status extends number> = { [S in Status]: typeof problemSchema };

/** The error responses of an operation. 400, 500 and 503 are always included. */
export function problemResponses<const Status extends number>(
  ...statuses: readonly Status[]
): Problems<Status | 400 | 500 | 503> {
  const entries: [number, TSchema][] = [400, ...statuses, 500, 503].map((s) => [
    s,
    documentedProblem,
  ]);
  // Guarantee: the keys are the given statuses and the three added ones.
  return Object.fromEntries(entries) as Problems<Status | 400 | 500 | 503>;
}

/**
 * Error responses by reference, for an operation that declares its responses in `detail`. 500 and 503 are
 * always included.
 */
export function problemReferences(...statuses: readonly number[]) {
  return Object.fromEntries(
    [...statuses, 500, 503].map((status) => [
      status,
      { $ref: `#/components/responses/${problemResponseNames[status]}` },
    ]),
  );
}

/** The names of the error responses in the OpenAPI document, by status. */
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
