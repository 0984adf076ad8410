import { AppError } from "./errors.ts";

/** The roles that a token can grant. `admin` includes the others. */
export const roles = ["user", "operator", "admin"] as const;
export type Role = (typeof roles)[number];

/** The longest `sub` of a token, by OpenID Connect Core 1.0, section 2. */
export const maxSubjectLength = 255;
/** Precedes the `sub` of a user who signed in by OpenID Connect, to keep it apart from the ids of users and clients. */
export const openIdPrefix = "oidc:";
/** Precedes the name of who signed in by a link of the command line. */
export const consolePrefix = "console:";
/** The actor of sessions opened with a link by somebody whose name is not known. It is not a user. */
export const unnamedConsole = "skyhook-console";
/** Precedes the name of the operating system's user who runs a command. */
export const commandPrefix = "cli:";
export const maxActorIdLength = openIdPrefix.length + maxSubjectLength;

/** The authenticated caller. */
export interface Actor {
  /** The token's `sub`: the id of a user or a client. At most `maxActorIdLength` characters. */
  readonly id: string;
  readonly roles: readonly Role[];
}

/** The bearer of a valid token. `expiresAt` is 30 s after the token's `exp`, to allow for clock skew. */
export interface Session {
  readonly actor: Actor;
  readonly expiresAt: Date;
  /** When the token was issued or the session began. Without it, any revocation of the actor ends it. */
  readonly issuedAt?: Date;
  /** Identifies an access token; see `tokenHash`. */
  readonly token?: string;
  /** Why it was ended since it was verified; null if it was not. Streams must end when it was. */
  readonly whyEnded?: () => Promise<string | null>;
  /** The API key of the request; absent with other credentials. Its calls are limited together. */
  readonly key?: { readonly id: string; readonly name: string };
}

/** Verifies an access token and returns its session. Throws `invalid-token`. */
export type Verify<Verified extends Session = Session> = (token: string) => Promise<Verified>;

/** The context that services receive with each request. */
export interface Context extends Session {
  readonly requestId: string;
}

export function isAdmin({ actor }: Pick<Context, "actor">): boolean {
  return actor.roles.includes("admin");
}

export function isOperator({ actor }: Pick<Context, "actor">): boolean {
  return actor.roles.includes("operator") || actor.roles.includes("admin");
}

/** Throws `insufficient-scope` unless the actor is an admin. */
export function requireAdmin(ctx: Pick<Context, "actor">): void {
  if (!isAdmin(ctx)) throw new AppError("insufficient-scope", "This requires the role admin");
}

/** Throws `insufficient-scope` unless the actor is an operator or an admin. */
export function requireOperator(ctx: Context): void {
  if (isOperator(ctx)) return;
  throw new AppError("insufficient-scope", "This requires the role operator or admin");
}

/** Throws `insufficient-scope` for an API key: what it makes would stay after the key is revoked, what it ends would not come back. */
export function requireNoKey<One extends Pick<Session, "key">>(session: One): One {
  if (session.key === undefined) return session;
  const detail = "An API key cannot sign in, nor make or end keys and tokens. Use an access token.";
  throw new AppError("insufficient-scope", detail);
}
