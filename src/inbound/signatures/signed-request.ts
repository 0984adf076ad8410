/** Secrets by role. The previous one is accepted during a rotation. */
export interface Secrets {
  readonly current: string;
  readonly previous: string | null;
}
export type SecretRole = "current" | "previous";

/** A secret with its role. */
export interface RoleSecret {
  readonly role: SecretRole;
  readonly secret: string;
}

/** Why a signature did not verify. */
export type SignatureRejection =
  | "missing-signature"
  | "several-signatures"
  | "malformed-signature"
  | "wrong-signature"
  | "missing-signed-value"
  | "missing-timestamp"
  | "stale-timestamp"
  | "untrusted-key";

/** Verified bytes. Only these are parsed, stored as an event or passed on. */
export interface Verified {
  readonly bytes: Uint8Array;
  /** What the signature covers: `bytes`, their compact JSON, the text with their form fields, or the token without its signature. */
  readonly signedBytes: Uint8Array;
  /** What the signature covers besides, such as the time. Empty if nothing. */
  readonly signedContext: string;
  readonly signedWith: SecretRole;
}
export type Verification =
  { readonly verified: Verified } | { readonly rejection: SignatureRejection };

/** A request to verify. */
export interface SignedRequest {
  readonly method: string;
  /** The URL as the provider knows it: with the public host, and the query as sent. */
  readonly url: string;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  /** Parses `bytes`, if the caller needs the payload too, so that they are parsed once. Default: `payloadReader`. */
  readonly payload?: () => unknown;
  /** Time of receipt, in milliseconds since the epoch. */
  readonly receivedAtMs: number;
}

/** A promise only if a key must be fetched or a token is read. Throws `unavailable` if a key cannot be fetched. */
export type Verify = (request: SignedRequest) => Verification | Promise<Verification>;
