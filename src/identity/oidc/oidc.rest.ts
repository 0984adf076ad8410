import { Elysia } from "elysia";

import { AppError, isServerError } from "../../base/errors.ts";
import { prefersHtml } from "../../web/accept.ts";
import { htmlPage, pageHeaders } from "../../web/asset.ts";
import type { Exchange } from "../../web/auth.ts";
import type { AddressOf, Connection } from "../../web/client-address.ts";
import type { ErrorLog } from "../../web/error-log.ts";
import { problems } from "../../web/problems.ts";
import { requestIdOf } from "../../web/request-id.ts";
import { urlOf } from "../../web/url.ts";
import { type FailureLimiter, requireUnblocked } from "../limiter.ts";
import { cookieIn, type SessionCookies, storedCookie } from "../sessions/session-cookie.ts";
import type { Sessions } from "../sessions/sessions.ts";

import { attemptSeconds, type Oidc } from "./oidc.ts";

interface Parts {
  /** Null if it is not configured. */
  readonly oidc: Oidc | null;
  /** PUBLIC_URL; not null with `oidc`. */
  readonly publicUrl: string | null;
  readonly sessions: Sessions;
  readonly cookies: SessionCookies;
  readonly signInLimiter: FailureLimiter;
  readonly logError: ErrorLog;
  readonly addressOf: AddressOf;
}

const maxPlaceLength = 1_000;

/**
 * Sign-in to the console by OpenID Connect: to the issuer and back. Both routes only redirect browsers, so the API
 * reference hides them.
 */
export const oidcRest = (parts: Parts) => {
  const { oidc, sessions, cookies, signInLimiter: limiter, logError, addressOf } = parts;
  const publicUrl = parts.publicUrl ?? "";
  const cookieName = publicUrl.startsWith("https:") ? "__Host-skyhook-oidc" : "skyhook-oidc";

  // Lax: the issuer's redirect comes from another site.
  const cookieOf = (value: string, maxAge: number) =>
    storedCookie(cookieName, value, { sameSite: "lax", maxAge });

  function configured(): Oidc {
    if (oidc !== null) return oidc;
    throw new AppError("not-found", "Sign-in by OpenID Connect is not configured: set OIDC_ISSUER");
  }

  async function start({ request }: Exchange): Promise<Response> {
    const service = configured();
    const place = placeIn(urlOf(request).searchParams);
    const { location, cookie } = await service.start(place, cookies.read(request));
    return redirect(location, [cookieOf(cookie, attemptSeconds)]);
  }

  async function finish(exchange: Exchange & Connection): Promise<Response> {
    const { request, set } = exchange;
    const service = configured();
    const address = addressOf(exchange);
    requireUnblocked(limiter, address);
    try {
      const attempt = cookieIn(request, cookieName) ?? "";
      const { actor, place, replaced } = await service.finish(attempt, urlOf(request).searchParams);
      const { cookie, session } = await sessions.open({
        actor,
        endsAt: null,
        address,
        userAgent: request.headers.get("user-agent") ?? "",
        requestId: requestIdOf(set.headers),
        replaced: cookies.read(request) ?? replaced,
      });
      const stored = cookies.write(request, cookie, session);
      return redirect(`${publicUrl}/console${place}`, [stored, cookieOf("", 0)]);
    } catch (error) {
      if (error instanceof AppError && error.code === "invalid-token") limiter.fail(address);
      throw error;
    }
  }

  /** Runs a step of the sign-in. A browser gets errors as a page, other clients as a problem. */
  async function served(
    exchange: Exchange & Connection,
    step: (exchange: Exchange & Connection) => Promise<Response>,
  ): Promise<Response> {
    exchange.set.headers["cache-control"] = "no-store";
    try {
      requireNavigation(exchange.request);
      return await step(exchange);
    } catch (error) {
      const isPage = prefersHtml(exchange.request.headers.get("accept"));
      if (!(error instanceof AppError) || !isPage) throw error;
      if (isServerError(error)) logError(error, requestIdOf(exchange.set.headers));
      const headers = new Headers({
        ...pageHeaders(),
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-store",
      });
      headers.append("set-cookie", cookieOf("", 0));
      return new Response(errorPage(error), { status: problems[error.code].status, headers });
    }
  }

  return new Elysia({ name: "oidc" })
    .get("/console/oidc/start", (exchange) => served(exchange, start), {
      detail: { hide: true },
    })
    .get("/console/oidc/callback", (exchange) => served(exchange, finish), {
      detail: { hide: true },
    });
};

/**
 * Sign-in is for the address bar, not for frames, images or scripts of other sites, which could begin sign-ins
 * unseen or use up the failures of an address. Old browsers and plain HTTP send no such headers.
 */
function requireNavigation({ headers }: Request): void {
  const isNavigation =
    (headers.get("sec-fetch-mode") ?? "navigate") === "navigate" &&
    (headers.get("sec-fetch-dest") ?? "document") === "document";
  if (isNavigation) return;
  const detail = "Another page opened this sign-in. Open the console and sign in there.";
  throw new AppError("cross-site-request", detail);
}

/** Only a fragment of the console, so that nothing redirects to another page. */
function placeIn(parameters: URLSearchParams): string {
  const places = parameters.getAll("return");
  const [place = ""] = places;
  const isValid = place === "" || /^#\/[\w\-.~!$&'()*+,;=:@/?%]*$/.test(place);
  if (places.length <= 1 && place.length <= maxPlaceLength && isValid) return place;
  const detail = `return must be a fragment of the console, like #/events, of at most ${maxPlaceLength} characters`;
  const errors = [{ parameter: "return", code: "invalid-parameter", detail }];
  throw new AppError("invalid-parameter", detail, { errors });
}

function redirect(location: string, cookies: readonly string[]): Response {
  const headers = new Headers({ location, "cache-control": "no-store" });
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(null, { status: 302, headers });
}

function errorPage({ detail }: AppError): string {
  return htmlPage(
    "Sign-in failed · Skyhook",
    `<main class="sign-in">
      <div class="panel">
        <h1>Sign-in failed</h1>
        <p class="error" role="alert">${Bun.escapeHTML(detail)}</p>
        <a href="../../console">Back to sign-in</a>
      </div>
    </main>`,
    `<link rel="stylesheet" href="../../console/page.css" />`,
  );
}
