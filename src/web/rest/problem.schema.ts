import type { TSchema } from "@sinclair/typebox";

import { problemSchema } from "../errors.ts";
import { documented } from "../schema.ts";

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
