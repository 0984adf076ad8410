import { AppError } from "./errors.ts";

/** What a token lets its bearer do. `admin` may do whatever the others may. */
export const roles = ["user", "operator", "admin"] as const;
export type Role = (typeof roles)[number];

/** Who asks. */
export interface Actor {
  /** The `sub` of the token: a user's or a client's id. */
  readonly id: string;
  readonly roles: readonly Role[];
}

/** A good token's bearer, and how long the token is taken: 30 s longer than it says, since clocks differ. */
export interface Session {
  readonly actor: Actor;
  readonly expiresAt: Date;
}

/** Opens the session of an access token. Throws `invalid-token`. */
export type Verify = (token: string) => Promise<Session>;

/** What every verb is told about the request it serves. */
export interface Context {
  readonly actor: Actor;
  /** When the token that let them in ends; what goes on after that must stop. */
  readonly expiresAt: Date;
  readonly requestId: string;
}

export function isAdmin({ actor }: Pick<Context, "actor">): boolean {
  return actor.roles.includes("admin");
}

/** Throws `insufficient-scope` unless the actor is an admin. */
export function requireAdmin(ctx: Pick<Context, "actor">): void {
  if (!isAdmin(ctx)) throw new AppError("insufficient-scope", "This needs the role admin");
}

/** Throws `insufficient-scope` unless the actor is an operator or an admin. */
export function requireOperator({ actor }: Context): void {
  if (actor.roles.includes("operator") || actor.roles.includes("admin")) return;
  throw new AppError("insufficient-scope", "This needs the role operator or admin");
}
