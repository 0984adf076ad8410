import type { Role } from "../context.ts";

/** A program that gets its tokens by the client-credentials grant (RFC 6749 section 4.4). */
export interface Client {
  /** `cli_` and a UUIDv7: the `client_id`. */
  readonly id: `cli_${string}`;
  readonly name: string;
  /** Argon2id, in its own text form; the secret itself is shown once and never stored. */
  readonly secretHash: string;
  readonly roles: readonly Role[];
  readonly createdAt: Date;
}
