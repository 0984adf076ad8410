import { type Clock, pause } from "../../base/clock.ts";
import { errorMessage } from "../../base/errors.ts";
import { parseJson } from "../../base/json.ts";
import { isLoopback } from "../../base/loopback.ts";
import { isObject, type JsonObject, printable, textAt } from "../../base/payload.ts";
import { plainFetch } from "../../base/plain-fetch.ts";
import { responseText } from "../../base/response-text.ts";
import { version } from "../../base/version.ts";

import { ApiError, pauseUntil } from "./api-error.ts";

/** How to reach a provider's API. */
export interface ApiAccess {
  /** The base URL, without a slash at its end: https, or http to this machine. */
  readonly apiUrl: string;
  readonly token: string;
}

/** A name and its value. */
export type Field = [name: string, value: string];

export interface ApiRequest {
  readonly method: "GET" | "POST" | "PATCH";
  /** Below the base URL, with a slash before it. Its variable parts are percent-encoded. */
  readonly path: string;
  readonly query?: readonly Field[];
  /** Sent as JSON. */
  readonly json?: JsonObject;
  /** Sent as a form. */
  readonly form?: readonly Field[];
  /** Limit for the response, after decompression. */
  readonly maxBytes?: number;
}

export interface ApiResponse {
  readonly body: unknown;
  readonly headers: Headers;
}

/** A provider's REST API. */
export interface ProviderApi {
  /** The API's host, for messages. */
  readonly host: string;
  /** Sends a request. Throws an `ApiError` unless the response is a 2xx with JSON. */
  send(request: ApiRequest): Promise<ApiResponse>;
}

interface Options {
  /** Headers of every request, besides the token. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
}

const timeoutMs = 15_000;
const usualMaxBytes = 8 * 1024 * 1024;
/** Delays before a GET is repeated after no response, or an error of the server. */
const retryDelaysMs = [500, 2_000];
const maxMessageLength = 200;

/**
 * A client for a provider's API. Sends the token only to the configured origin, over https or to this machine:
 * redirects are not followed, and links in responses are not requested. Honours rate limits: after a response
 * that uses the last request up, the next call throws without sending.
 */
export function providerApi({ apiUrl, token }: ApiAccess, options: Options): ProviderApi {
  const { clock, signal } = options;
  if (!apiUrl.startsWith("https:") && !isLoopback(apiUrl)) {
    throw new Error(`${apiUrl} must be https: otherwise the token is sent unencrypted`);
  }
  const { host, origin } = new URL(apiUrl);
  let pausedUntilMs: number | null = null;

  async function send(request: ApiRequest): Promise<ApiResponse> {
    const retries = request.method === "GET" ? retryDelaysMs : [];
    for (const delayMs of retries) {
      try {
        return await sendOnce(request);
      } catch (error) {
        if (!(error instanceof ApiError && error.isTemporary) || signal?.aborted) throw error;
        await pause(clock, delayMs, signal);
      }
    }
    return sendOnce(request);
  }

  async function sendOnce(request: ApiRequest): Promise<ApiResponse> {
    if (pausedUntilMs !== null && clock.now() < pausedUntilMs) {
      throw new ApiError(limitMessage(pausedUntilMs), 429, pausedUntilMs);
    }
    const { response, text } = await exchange(request);
    const body = parsed(text);
    const said = clean(messageIn(body));
    pausedUntilMs = pauseUntil(response, said, clock.now());
    if (!response.ok) throw errorOf(response, said, pausedUntilMs);
    if (body === undefined)
      throw new ApiError(`${host} answers with something other than JSON`, response.status);
    return { body, headers: response.headers };
  }

  async function exchange({
    method,
    path,
    query = [],
    json,
    form,
    maxBytes = usualMaxBytes,
  }: ApiRequest) {
    const url = new URL(`${apiUrl}${path}`);
    if (url.origin !== origin) throw new Error("The path must not change the origin");
    url.search = new URLSearchParams(query).toString();
    const tooLate = AbortSignal.timeout(timeoutMs);
    try {
      const response = await plainFetch(url, {
        method,
        redirect: "manual",
        keepalive: false,
        signal: signal === undefined ? tooLate : AbortSignal.any([signal, tooLate]),
        headers: {
          accept: "application/json",
          // GitHub refuses requests without it.
          "user-agent": `Skyhook/${version}`,
          ...options.headers,
          authorization: `Bearer ${token}`,
          ...(json !== undefined && { "content-type": "application/json" }),
        },
        ...(json !== undefined && { body: JSON.stringify(json) }),
        ...(form !== undefined && {
          body: new URLSearchParams(form),
        }),
      });
      return { response, text: await responseText(response, maxBytes) };
    } catch (error) {
      const reason = tooLate.aborted
        ? `no response within ${timeoutMs / 1_000} s`
        : clean(errorMessage(error));
      throw new ApiError(`${host} cannot be reached (${reason})`, null);
    }
  }

  function errorOf(response: Response, said: string | null, retryAtMs: number | null): ApiError {
    const { status, headers } = response;
    const isLimited = retryAtMs !== null && (status === 429 || status === 403);
    if (isLimited) return new ApiError(limitMessage(retryAtMs), status, retryAtMs);
    if (status >= 300 && status < 400) {
      const target = clean(headers.get("location")) ?? "nowhere";
      return new ApiError(
        `${host} redirects (${status}) to ${target}, which is not followed`,
        status,
      );
    }
    const needed =
      headers.get("x-accepted-github-permissions") ?? headers.get("x-accepted-oauth-scopes");
    const scope = needed === null || needed === "" ? "" : `; it accepts ${clean(needed) ?? ""}`;
    const showsScope = status === 403 || status === 404;
    return new ApiError(
      `${host} answers ${status}: ${said ?? "(no message)"}${showsScope ? scope : ""}`,
      status,
    );
  }

  const limitMessage = (untilMs: number) =>
    `the rate limit of ${host} is reached until ${new Date(untilMs).toISOString()}`;

  /** Printable text without the token, in case a response repeats it. */
  function clean(text: string | null): string | null {
    return text === null ? null : printable(text.replaceAll(token, "(token)"), maxMessageLength);
  }

  return { host, send };
}

/** The error message of GitHub (`message`), Stripe and Vercel (`error.message`), or null. */
function messageIn(body: unknown): string | null {
  return textAt(body, "message") ?? textAt(body, "error", "message");
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** The objects of a list in a response. Throws an `ApiError` if it is not a list of objects. */
export function objectsIn({ host }: ProviderApi, list: unknown): readonly JsonObject[] {
  if (Array.isArray(list) && list.every(isObject)) return list;
  throw new ApiError(`${host} answers with something other than a list`, 200);
}

/** The value of `parameter` in the `next` link of a response (RFC 8288); null on the last page. */
export function nextPageParameter({ headers }: ApiResponse, parameter: string): string | null {
  for (const link of (headers.get("link") ?? "").split(/,(?=\s*<)/)) {
    const [, target = "", rest = ""] = /^\s*<([^>]*)>(.*)$/s.exec(link) ?? [];
    if (!/;\s*rel="?next"?\s*(?:;|$)/i.test(rest)) continue;
    // Only the value is used. The link could lead elsewhere.
    return URL.parse(target, "https://localhost")?.searchParams.get(parameter) ?? null;
  }
  return null;
}
