import { type Static, Type } from "@sinclair/typebox";

import { AppError, type FieldError, type Quota } from "../base/errors.ts";

import { isErrorCode, problems } from "./problems.ts";
import { count, listOf, moneySchema, resource, text, word } from "./schema.ts";

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

export const problemSchema = resource("Problem", "The body of every error response (RFC 9457).", {
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
  code: word(Object.keys(problems).filter(isErrorCode), "The error code, for programs."),
  requestId: text("The request id, as in the header `X-Request-Id` and in the log.", "req_01"),
  errors: Type.Optional(listOf(fieldErrorSchema)),
  seatsAvailable: Type.Optional(count("The number of seats for sale, with `no-seats`.", 1)),
  expectedPrice: Type.Optional(moneySchema),
  currentPrice: Type.Optional(moneySchema),
  error: Type.Optional(text("The error code of OAuth 2.0.", "invalid_client")),
});

interface ProblemBody extends Static<typeof problemSchema> {}

/** The response for an error, with the headers of `headersOf`. */
export function problemResponse(error: AppError, requestId: string): Response {
  const { status, title } = problems[error.code];
  const body: ProblemBody = {
    type: `/problems/${error.code}`,
    title,
    status,
    detail: error.detail,
    instance: `urn:skyhook:request:${requestId}`,
    code: error.code,
    requestId,
    ...problemMembers(error),
    ...(error.extras.oauthError && { error: error.extras.oauthError }),
  };
  const headers = new Headers(headersOf(error));
  headers.set("content-type", "application/problem+json");
  headers.set("cache-control", "no-store");
  headers.set("x-request-id", requestId);
  return new Response(JSON.stringify(body), { status, headers });
}

/** The members of a problem that only some errors have, in REST and GraphQL alike. */
export function problemMembers({ extras: { errors, seatsAvailable, prices } }: AppError) {
  return {
    ...(errors && { errors }),
    ...(seatsAvailable !== undefined && { seatsAvailable }),
    ...prices,
  };
}

/** The HTTP headers for an error, in REST and GraphQL alike. */
export function headersOf({ code, extras }: AppError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (code === "authentication-required") {
    // The response to a client that used Basic must offer Basic (RFC 6749 section 5.2).
    const isClient = extras.oauthError === "invalid_client";
    headers["www-authenticate"] = isClient ? 'Bearer, Basic realm="skyhook"' : "Bearer";
  }
  if (code === "invalid-token") headers["www-authenticate"] = 'Bearer error="invalid_token"';
  if (code === "insufficient-scope") {
    headers["www-authenticate"] = 'Bearer error="insufficient_scope"';
  }
  // The rest of the body stays unread, so the connection cannot be reused.
  if (code === "body-too-large") headers["connection"] = "close";
  if (extras.allow) headers["allow"] = extras.allow.join(", ");
  if (extras.accept) headers["accept"] = extras.accept;
  if (extras.acceptCoding) headers["accept-encoding"] = extras.acceptCoding;
  if (extras.retryAfterSeconds) headers["retry-after"] = String(extras.retryAfterSeconds);
  if (extras.quota) {
    const seconds = extras.retryAfterSeconds ?? extras.quota.windowSeconds;
    Object.assign(headers, rateLimitHeaders({ quota: extras.quota, remaining: 0, seconds }));
  }
  return headers;
}

/** What is left of a limit. */
export interface Left {
  readonly quota: Quota;
  readonly remaining: number;
  /** Until all of it is left again. */
  readonly seconds: number;
}

/** The headers of draft-ietf-httpapi-ratelimit-headers. */
export function rateLimitHeaders({ quota, remaining, seconds }: Left): Record<string, string> {
  const { name, limit, windowSeconds } = quota;
  return {
    "ratelimit-policy": `"${name}";q=${limit};w=${windowSeconds}`,
    ratelimit: `"${name}";r=${remaining};t=${seconds}`,
  };
}
