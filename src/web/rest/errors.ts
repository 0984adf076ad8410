import { AppError, type ErrorCode, type FieldError } from "../../base/errors.ts";

interface Problem {
  readonly status: number;
  readonly title: string;
  /** For the page at `/problems/<code>`: what it means and what to do. */
  readonly explanation: string;
}

/** How each failure shows over HTTP: the one table. */
export const problems: Readonly<Record<ErrorCode, Problem>> = {
  "bad-request": {
    status: 400,
    title: "Bad request",
    explanation: "The request could not be understood. Check its form against the API documents.",
  },
  "invalid-body": {
    status: 400,
    title: "Invalid body",
    explanation:
      "The body is not valid UTF-8 JSON, or a form field that should hold it is missing.",
  },
  "invalid-parameter": {
    status: 400,
    title: "Invalid parameter",
    explanation:
      "A parameter is out of its range or malformed, or the operation does not know it; `errors` names each one.",
  },
  "invalid-cursor": {
    status: 400,
    title: "Invalid cursor",
    explanation: "Cursors are opaque: pass them back exactly as a list returned them.",
  },
  "conflicting-parameters": {
    status: 400,
    title: "Conflicting parameters",
    explanation: "Page numbers and cursors are two styles: use one of them in a request.",
  },
  "not-cancellable": {
    status: 400,
    title: "Not cancellable",
    explanation: "The flight has departed, so the booking can no longer be cancelled.",
  },
  "authentication-required": {
    status: 401,
    title: "Authentication required",
    explanation: "Send `Authorization: Bearer <token>`. `skyhook token` makes a token.",
  },
  "invalid-token": {
    status: 401,
    title: "Invalid token",
    explanation:
      "The access token is malformed, expired, or not meant for this service: get a new one.",
  },
  "invalid-signature": {
    status: 401,
    title: "Invalid signature",
    explanation:
      "The delivery did not verify. Operators find the reason at /v1/rejections; `skyhook verify` explains one.",
  },
  "insufficient-scope": {
    status: 403,
    title: "Insufficient scope",
    explanation:
      "The token is valid but lacks the role that this needs. `skyhook token --role operator` or `--role admin` makes one that has it.",
  },
  "not-found": {
    status: 404,
    title: "Not found",
    explanation: "There is nothing at this address; /swagger shows what there is.",
  },
  "flight-not-found": {
    status: 404,
    title: "Flight not found",
    explanation: "There is no flight of this id.",
  },
  "booking-not-found": {
    status: 404,
    title: "Booking not found",
    explanation: "There is no booking of this id, or it is not yours.",
  },
  "unknown-provider": {
    status: 404,
    title: "Unknown provider",
    explanation: "No provider of this name is registered; GET / lists those that are.",
  },
  "method-not-allowed": {
    status: 405,
    title: "Method not allowed",
    explanation: "The address exists but not for this method; `Allow` lists those it takes.",
  },
  "no-seats": {
    status: 409,
    title: "No seats available",
    explanation: "Fewer seats are left than asked for; `seatsAvailable` says how many.",
  },
  "email-taken": {
    status: 409,
    title: "E-mail address taken",
    explanation: "A user with this e-mail address exists, perhaps in other letter case.",
  },
  "idempotency-in-flight": {
    status: 409,
    title: "Request in flight",
    explanation: "A request with this Idempotency-Key is still being carried out: try again soon.",
  },
  "body-too-large": {
    status: 413,
    title: "Body too large",
    explanation: "The body is larger than this address takes.",
  },
  "unsupported-media-type": {
    status: 415,
    title: "Unsupported media type",
    explanation: "The body's type or coding is not taken here. Webhooks must be sent uncompressed.",
  },
  "validation-failed": {
    status: 422,
    title: "Validation failed",
    explanation: "The body is well-formed but breaks a rule; `errors` points to each place.",
  },
  "booking-closed": {
    status: 422,
    title: "Booking closed",
    explanation: "The flight leaves too soon, or has left, to be booked.",
  },
  "idempotency-key-reused": {
    status: 422,
    title: "Idempotency key reused",
    explanation:
      "This Idempotency-Key came with another request before: use a new key for a new request.",
  },
  "too-many-auth-failures": {
    status: 429,
    title: "Too many authentication failures",
    explanation: "This address failed to authenticate too often; wait for `Retry-After` seconds.",
  },
  internal: {
    status: 500,
    title: "Internal server error",
    explanation:
      "A fault of ours. Give its `requestId` to whoever runs the service: the cause is in the log under it.",
  },
  unavailable: {
    status: 503,
    title: "Service unavailable",
    explanation:
      "The service cannot do this now: send the same again after `Retry-After`, with its Idempotency-Key if it has one. Should it have been done all the same, it is not done twice.",
  },
};

/** Whether `text` is one of our codes. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(problems, text);
}

/** The body of every error (RFC 9457, section 3). */
export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code: ErrorCode;
  readonly requestId: string;
  readonly errors?: readonly FieldError[];
  readonly seatsAvailable?: number;
  /** As OAuth libraries look for it. */
  readonly error?: string;
}

/** The answer for a failure, with the headers that its status calls for. */
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
    ...(error.extras.errors && { errors: error.extras.errors }),
    ...(error.extras.oauthError && { error: error.extras.oauthError }),
    ...(error.extras.seatsAvailable !== undefined && {
      seatsAvailable: error.extras.seatsAvailable,
    }),
  };
  const headers = new Headers(headersOf(error));
  headers.set("content-type", "application/problem+json");
  headers.set("cache-control", "no-store");
  headers.set("x-request-id", requestId);
  return new Response(JSON.stringify(body), { status, headers });
}

/** The headers that an error calls for, whatever the form of its body. */
export function headersOf({ code, extras }: AppError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (code === "authentication-required") {
    // A client that came by Basic must hear of Basic (RFC 6749 section 5.2).
    const isClient = extras.oauthError === "invalid_client";
    headers["www-authenticate"] = isClient ? 'Bearer, Basic realm="skyhook"' : "Bearer";
  }
  if (code === "invalid-token") headers["www-authenticate"] = 'Bearer error="invalid_token"';
  if (code === "insufficient-scope") {
    headers["www-authenticate"] = 'Bearer error="insufficient_scope"';
  }
  // The rest of the body is not read, so the connection cannot be used again.
  if (code === "body-too-large") headers["connection"] = "close";
  if (extras.allow) headers["allow"] = extras.allow.join(", ");
  if (extras.accept) headers["accept"] = extras.accept;
  if (extras.acceptCoding) headers["accept-encoding"] = extras.acceptCoding;
  if (extras.retryAfterSeconds) headers["retry-after"] = String(extras.retryAfterSeconds);
  if (extras.quota) {
    const { name, limit, windowSeconds } = extras.quota;
    headers["ratelimit-policy"] = `"${name}";q=${limit};w=${windowSeconds}`;
    headers["ratelimit"] = `"${name}";r=0;t=${extras.retryAfterSeconds ?? windowSeconds}`;
  }
  return headers;
}
