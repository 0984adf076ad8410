/**
 * Every failure the program names. A code says what went wrong, never how a door shows it: the HTTP
 * status of each code stands in one table, `http/errors.ts`.
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
  | "not-found"
  | "flight-not-found"
  | "booking-not-found"
  | "unknown-provider"
  | "method-not-allowed"
  | "no-seats"
  | "email-taken"
  | "idempotency-in-flight"
  | "body-too-large"
  | "unsupported-media-type"
  | "validation-failed"
  | "booking-closed"
  | "idempotency-key-reused"
  | "too-many-auth-failures"
  | "internal"
  | "unavailable";

/** One field or parameter at fault. `pointer` is a JSON Pointer (RFC 6901) into the body. */
export type FieldError = { readonly code: string; readonly detail: string } & (
  { readonly parameter: string } | { readonly pointer: string }
);

interface ErrorExtras {
  /** The fields or parameters at fault. */
  readonly errors?: readonly FieldError[];
  /** How many seats are left; for `no-seats`. */
  readonly seatsAvailable?: number;
  /** Whole seconds after which trying again makes sense. */
  readonly retryAfterSeconds?: number;
  /** Methods the path does answer; for `method-not-allowed`. */
  readonly allow?: readonly string[];
  /** Media types that would be taken; for `unsupported-media-type`. */
  readonly accept?: string;
  /** Codings that would be taken, where it is the coding that is not (RFC 9110 section 12.5.3). */
  readonly acceptCoding?: string;
  /** The error's name in OAuth 2.0 (RFC 6749 section 5.2), for its libraries. */
  readonly oauthError?: "invalid_client" | "invalid_request" | "unsupported_grant_type";
  /** The quota that was used up; for `too-many-auth-failures`. */
  readonly quota?: {
    readonly name: string;
    readonly limit: number;
    readonly windowSeconds: number;
  };
  /** For operators and the log only; a client is never told. */
  readonly cause?: unknown;
}

/** An expected failure. Anything thrown that is not an `AppError` is a fault of ours: `internal`. */
export class AppError extends Error {
  override readonly name = "AppError";

  constructor(
    readonly code: ErrorCode,
    /** Told to the client: says what to do, never a cause that helps an attacker. */
    readonly detail: string,
    readonly extras: ErrorExtras = {},
  ) {
    super(`${code}: ${detail}`, { cause: extras.cause });
  }
}

/** Whether it is no fault of the client's. */
export function isOurs({ code }: AppError): boolean {
  return code === "internal" || code === "unavailable";
}
