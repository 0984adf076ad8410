import type { Clock } from "../../base/clock.ts";
import type { Session } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";

import type { ConsoleSession } from "./session.ts";
import type { Sessions } from "./sessions.ts";

/** Sent by the console with every request. Other sites cannot send it without permission, which CORS never gives. */
export const consoleHeader = "x-skyhook-console";

/** Streams of a session end after this long and are resumed, so that those of an ended session stop. */
const streamMs = 60_000;

/** The cookies of sessions, and which requests may use them. */
export interface SessionCookies {
  /** The cookie's value; null without one. */
  read(request: Request): string | null;
  /** The value of `Set-Cookie` that stores a session; null removes it. */
  write(request: Request, cookie: string | null, session?: ConsoleSession): string;
  /**
   * The session of a request without a token; null without a cookie. Throws `invalid-token`, and
   * `cross-site-request` as `requireOwnSite`.
   */
  session(request: Request): Promise<Session> | null;
  /** Throws `cross-site-request` unless the console of this server made the request. */
  requireOwnSite(request: Request): void;
}

interface Parts {
  readonly sessions: Sessions;
  readonly clock: Clock;
  /** PUBLIC_URL. */
  readonly publicUrl: string | null;
  readonly trustedProxyHops: number;
}

export function sessionCookies({
  sessions,
  clock,
  publicUrl,
  trustedProxyHops,
}: Parts): SessionCookies {
  /** Whether browsers reach the server by HTTPS, also through a proxy. */
  function isSecure(request: Request): boolean {
    if (publicUrl?.startsWith("https:") === true || request.url.startsWith("https:")) return true;
    if (trustedProxyHops === 0) return false;
    // The first entry is the browser's scheme. If a client forged it, only that client gets a cookie it cannot use.
    const [scheme = ""] = request.headers.get("x-forwarded-proto")?.split(",") ?? [];
    return scheme.trim().toLowerCase() === "https";
  }

  /** `__Host-`: the browser refuses such a cookie from a subdomain or from plain HTTP (RFC 6265bis, 4.1.3). */
  const nameFor = (request: Request) => (isSecure(request) ? "__Host-skyhook" : "skyhook");

  const read = (request: Request) => cookieIn(request, nameFor(request));

  function requireOwnSite(request: Request): void {
    const { headers } = request;
    const site = headers.get("sec-fetch-site");
    const origin = headers.get("origin");
    const isOwn =
      headers.has(consoleHeader) &&
      (site === null ? isOwnOrigin(origin, request) : site === "same-origin");
    if (isOwn) return;
    const detail = `Requests with a session's cookie must come from the console, with the header ${consoleHeader}. Use a token instead.`;
    throw new AppError("cross-site-request", detail);
  }

  /** For browsers without Sec-Fetch-Site. Those without Origin do not send it on same-origin requests only. */
  function isOwnOrigin(origin: string | null, request: Request): boolean {
    if (origin === null) return true;
    const url = URL.parse(origin);
    const own = [
      request.headers.get("host"),
      publicUrl === null ? null : URL.parse(publicUrl)?.host,
    ];
    return url !== null && own.includes(url.host);
  }

  async function sessionOf(cookie: string): Promise<Session> {
    const { actor, roles, expiresAt, createdAt } = await sessions.read(cookie);
    const until = Math.min(expiresAt.getTime(), clock.now() + streamMs);
    return { actor: { id: actor, roles }, expiresAt: new Date(until), issuedAt: createdAt };
  }

  return {
    read,
    requireOwnSite,
    write(request, cookie, session) {
      const restMs = session === undefined ? 0 : session.expiresAt.getTime() - clock.now();
      const maxAge = Math.max(0, Math.floor(restMs / 1_000));
      return storedCookie(nameFor(request), cookie ?? "", { sameSite: "strict", maxAge });
    },
    session(request) {
      const cookie = read(request);
      if (cookie === null) return null;
      if (request.method !== "GET" && request.method !== "HEAD") requireOwnSite(request);
      return sessionOf(cookie);
    },
  };
}

/** The value of a request's cookie; null without one. */
export function cookieIn(request: Request, name: string): string | null {
  return new Bun.CookieMap(request.headers.get("cookie") ?? "").get(name);
}

/** The value of `Set-Cookie` for a cookie that scripts cannot read. */
export function storedCookie(name: string, value: string, options: Bun.CookieInit): string {
  const secure = name.startsWith("__Host-");
  return new Bun.Cookie(name, value, { httpOnly: true, secure, ...options }).toString();
}
