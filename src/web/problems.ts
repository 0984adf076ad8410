import type { ErrorCode } from "../base/errors.ts";

interface Problem {
  readonly status: number;
  readonly title: string;
  /** Shown on the page at `/problems/<code>`: what the error means and what to do. */
  readonly explanation: string;
}

/** Maps each error code to its HTTP status and texts. */
export const problems: Readonly<Record<ErrorCode, Problem>> = {
  "bad-request": {
    status: 400,
    title: "Bad request",
    explanation: "The request is malformed. Compare it with the API reference at /swagger.",
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
      "A parameter is malformed, out of range or unknown to this operation. `errors` lists each one.",
  },
  "invalid-cursor": {
    status: 400,
    title: "Invalid cursor",
    explanation:
      "The cursor is not valid for this list. Pass cursors back exactly as the list returned them.",
  },
  "conflicting-parameters": {
    status: 400,
    title: "Conflicting parameters",
    explanation: "Page numbers and cursors cannot be combined. Use one of them in a request.",
  },
  "not-cancellable": {
    status: 400,
    title: "Not cancellable",
    explanation: "The flight has departed. The booking can no longer be cancelled.",
  },
  "authentication-required": {
    status: 401,
    title: "Authentication required",
    explanation:
      "The request has no access token. Send `Authorization: Bearer <token>`; `skyhook token` creates a token.",
  },
  "invalid-token": {
    status: 401,
    title: "Invalid token",
    explanation:
      "The access token is malformed, expired or issued for another service. Get a new one.",
  },
  "invalid-signature": {
    status: 401,
    title: "Invalid signature",
    explanation:
      "The signature does not match the delivery. Operators find the reason at /v1/rejections; `skyhook verify` checks a single delivery.",
  },
  "insufficient-scope": {
    status: 403,
    title: "Insufficient scope",
    explanation:
      "The token is valid but lacks the required role. `skyhook token --role operator` or `--role admin` creates one that has it.",
  },
  "cross-site-request": {
    status: 403,
    title: "Cross-site request",
    explanation:
      "The request has a session's cookie, but was not made by the console of this server. Programs use a token instead.",
  },
  "not-found": {
    status: 404,
    title: "Not found",
    explanation: "No route matches this URL. /swagger lists all routes.",
  },
  "flight-not-found": {
    status: 404,
    title: "Flight not found",
    explanation: "No flight has this id.",
  },
  "booking-not-found": {
    status: 404,
    title: "Booking not found",
    explanation: "No booking has this id, or it belongs to another user.",
  },
  "unknown-provider": {
    status: 404,
    title: "Unknown provider",
    explanation: "No provider with this name is registered. GET / lists the registered providers.",
  },
  "method-not-allowed": {
    status: 405,
    title: "Method not allowed",
    explanation:
      "This URL does not support the method. The `Allow` header lists those it supports.",
  },
  "no-seats": {
    status: 409,
    title: "No seats available",
    explanation: "Fewer seats are available than requested. `seatsAvailable` is the number left.",
  },
  "price-changed": {
    status: 409,
    title: "Price changed",
    explanation:
      "The price is not `expectedPrice`, and nothing was booked. `currentPrice` is the total now. To accept it, send it as `expectedPrice`.",
  },
  "change-pending": {
    status: 409,
    title: "Change pending",
    explanation:
      "A change of this booking waits for its payment. Withdraw it, or wait until it has been paid or has expired.",
  },
  "offer-ended": {
    status: 409,
    title: "Offer ended",
    explanation:
      "The offer has expired, was withdrawn or replaced, or the booking has changed since. Ask for a new offer.",
  },
  "email-taken": {
    status: 409,
    title: "E-mail address taken",
    explanation:
      "A user with this e-mail address already exists. Upper and lower case count as the same.",
  },
  "open-bookings": {
    status: 409,
    title: "Open bookings",
    explanation:
      "The person has bookings of flights that have not departed. Cancel them first; `detail` names all.",
  },
  "replay-running": {
    status: 409,
    title: "Replay running",
    explanation: "One bulk replay runs at a time. Wait until it has finished, or stop it.",
  },
  "idempotency-in-flight": {
    status: 409,
    title: "Request in flight",
    explanation:
      "Another request with this Idempotency-Key is still being processed. Try again soon.",
  },
  "body-too-large": {
    status: 413,
    title: "Body too large",
    explanation: "The body exceeds the size limit of this route.",
  },
  "unsupported-media-type": {
    status: 415,
    title: "Unsupported media type",
    explanation:
      "The Content-Type or Content-Encoding is not supported. Send the body uncompressed, with a type that `Accept` lists.",
  },
  "validation-failed": {
    status: 422,
    title: "Validation failed",
    explanation:
      "The body is well-formed but breaks a rule. `errors` points to each invalid field.",
  },
  "booking-closed": {
    status: 422,
    title: "Booking closed",
    explanation:
      "The flight can no longer be booked, or the booking is in a state that does not allow this: cancelled, expired or not paid.",
  },
  "idempotency-key-reused": {
    status: 422,
    title: "Idempotency key reused",
    explanation: "This Idempotency-Key was already used with a different request. Use a new key.",
  },
  "too-many-auth-failures": {
    status: 429,
    title: "Too many authentication failures",
    explanation:
      "Too many requests from this address failed to authenticate. Wait for `Retry-After` seconds.",
  },
  "too-many-tests": {
    status: 429,
    title: "Too many tests",
    explanation:
      "You sent too many test events and test notifications. Wait for `Retry-After` seconds.",
  },
  "too-many-requests": {
    status: 429,
    title: "Too many requests",
    explanation: "You sent too many requests of this kind. Wait for `Retry-After` seconds.",
  },
  internal: {
    status: 500,
    title: "Internal server error",
    explanation:
      "The server failed unexpectedly. Send the `requestId` to the operator of the service, who finds the cause in the log.",
  },
  unavailable: {
    status: 503,
    title: "Service unavailable",
    explanation:
      "The service cannot process the request now. Send the same request again after `Retry-After` seconds. With an Idempotency-Key it is processed at most once.",
  },
};

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(problems, text);
}
