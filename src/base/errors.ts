/**
 * The codes of all expected errors. A code names the cause and no transport: `web/errors.ts` maps each
 * code to its HTTP status.
 */
export type ErrorCode =
  | "bad-request"
  | "invalid-body"
  | "invalid-parameter"
  | "invalid-cursor"
  | "conflicting-parameters"
  | "not-cancellable"
  | "authentication-required"
  | "invalid-token"
  | "invalid-signature"
  | "insufficient-scope"
  | "cross-site-request"
  | "not-found"
  | "flight-not-found"
  | "booking-not-found"
  | "unknown-provider"
  | "method-not-allowed"
  | "no-seats"
  | "price-changed"
  | "offer-ended"
  | "change-pending"
  | "email-taken"
  | "open-bookings"
  | "replay-running"
  | "idempotency-in-flight"
  | "body-too-large"
  | "unsupported-media-type"
  | "validation-failed"
  | "booking-closed"
  | "idempotency-key-reused"
  | "too-many-auth-failures"
  | "too-many-tests"
  | "too-many-requests"
  | "internal"
  | "unavailable";

/** One invalid field or parameter. `pointer` is a JSON Pointer (RFC 6901) into the body. */
export type FieldError = { readonly code: string; readonly detail: string } & (
  { readonly parameter: string } | { readonly pointer: string }
);

/** As `Money`, which throws these errors. */
interface Price {
  readonly amount: number;
  readonly currency: string;
}

/** What is allowed in a time. */
export interface Quota {
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

interface ErrorExtras {
  /** The invalid fields or parameters. */
  readonly errors?: readonly FieldError[];
  /** Seats for sale, for `no-seats`. */
  readonly seatsAvailable?: number;
  /** The price that the caller expected and the one that holds now, for `price-changed`. */
  readonly prices?: Readonly<Record<"expectedPrice" | "currentPrice", Price>>;
  /** Whole seconds to wait before a retry. */
  readonly retryAfterSeconds?: number;
  /** The methods that the path supports, for `method-not-allowed`. */
  readonly allow?: readonly string[];
  /** The supported media types, for `unsupported-media-type`. */
  readonly accept?: string;
  /** The supported content codings, where the coding is unsupported (RFC 9110 section 12.5.3). */
  readonly acceptCoding?: string;
  /** The error code of OAuth 2.0 (RFC 6749 section 5.2), for OAuth client libraries. */
  readonly oauthError?: "invalid_client" | "invalid_request" | "unsupported_grant_type";
  /** The exceeded quota, for the codes with status 429. */
  readonly quota?: Quota;
  /** For the log. Never sent to a client. */
  readonly cause?: unknown;
}

/** An expected error. Clients receive any other thrown value as `internal`. */
export class AppError extends Error {
  override readonly name = "AppError";

  constructor(
    readonly code: ErrorCode,
    /** Sent to the client: what happened and what to do, but no cause that helps an attacker. */
    readonly detail: string,
    readonly extras: ErrorExtras = {},
  ) {
    super(`${code}: ${detail}`, { cause: extras.cause });
  }
}

export function badRequest(detail: string): AppError {
  return new AppError("bad-request", detail);
}

/** Whether the server caused the error, not the client. */
export function isServerError({ code }: AppError): boolean {
  return code === "internal" || code === "unavailable";
}

/** The message of anything thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of an error of the system or of a driver, such as `ENOENT`; null if it has none. */
export function errorCode(error: unknown): string | null {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return typeof code === "string" ? code : null;
}

/** Codes of the system, of Bun and of nodemailer, whose messages name system calls. */
const noConnection: ReadonlyMap<string, string> = new Map([
  ["ENOTFOUND", "host not found"],
  ["EDNS", "host not found"],
  ["EAI_AGAIN", "host not found: the name server did not answer"],
  ["ConnectionRefused", "connection refused"],
  ["ECONNREFUSED", "connection refused"],
]);

/** Why there is no connection, in words; null for any other error. */
export function connectionError(error: unknown): string | null {
  return noConnection.get(errorCode(error) ?? "") ?? null;
}
