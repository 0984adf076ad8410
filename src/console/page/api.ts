import { signOut, token } from "./session.ts";

const requestTimeoutMs = 20_000;

/** An error response of the API, or no response at all (status 0). */
export class ApiError extends Error {
  override readonly name = "ApiError";
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly requestId: string | null = null,
  ) {
    super(message);
  }
}

interface Options {
  readonly method?: "GET" | "POST";
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Calls the API with the session's token. `path` is relative to the page: `v1/events`. Throws an `ApiError`.
 * A 401 or 403 ends the session.
 */
export async function callApi<Answer>(path: string, options: Options = {}): Promise<Answer> {
  const bearer = token();
  const response = await send(path, options, bearer);
  if (response.ok) {
    // Guarantee: the server checks every response against the schema of its type before it sends it, and
    // `wire.ts` derives the JSON form of that type.
    return (await response.json()) as Answer;
  }
  const problem = await problemOf(response);
  if (problem.status === 401) signOut("expired", bearer);
  if (problem.status === 403) signOut("forbidden", bearer);
  throw problem;
}

/** Checks a token before it is stored. Throws an `ApiError` if the API rejects it; ends no session. */
export async function checkToken(value: string): Promise<void> {
  const response = await send("v1/events?limit=1", {}, value);
  await response.body?.cancel();
  if (!response.ok) throw new ApiError(response.status, "", "");
}

/** Exchanges the one-time code of `skyhook console` for an access token. Throws an `ApiError`. */
export async function exchange(code: string): Promise<string> {
  const response = await send("v1/auth/console", { method: "POST", body: { code } }, null);
  if (!response.ok) throw await problemOf(response);
  // Guarantee: as in `callApi`; the response is an access token response (RFC 6749 section 5.1).
  const answer = (await response.json()) as { readonly access_token: string };
  return answer.access_token;
}

async function send(
  path: string,
  { method = "GET", body, signal }: Options,
  bearer: string | null,
): Promise<Response> {
  const headers = new Headers();
  if (bearer !== null) headers.set("authorization", `Bearer ${bearer}`);
  if (body !== undefined) headers.set("content-type", "application/json");
  const timeout = AbortSignal.timeout(requestTimeoutMs);
  try {
    return await fetch(path, {
      method,
      headers,
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    const message = timeout.aborted
      ? `The server did not respond within ${requestTimeoutMs / 1_000} s. Try again.`
      : "Cannot reach the server. Check that it is running.";
    throw new ApiError(0, "unreachable", message);
  }
}

/** Reads a problem document (RFC 9457). */
async function problemOf(response: Response): Promise<ApiError> {
  const { status } = response;
  try {
    const body: unknown = await response.json();
    if (typeof body === "object" && body !== null) {
      const problem: { code?: unknown; detail?: unknown; requestId?: unknown } = body;
      const requestId = typeof problem.requestId === "string" ? problem.requestId : null;
      if (typeof problem.detail === "string") {
        return new ApiError(status, String(problem.code), problem.detail, requestId);
      }
    }
  } catch {
    // Not JSON: the response comes from a proxy, not from Skyhook.
  }
  return new ApiError(status, "", `The server responded with status ${status}.`);
}
