import { signOut, token } from "./session.ts";

/** How long an answer may take. */
const timeoutMs = 20_000;

/** An answer that says no, or no answer at all (status 0). */
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
 * Asks the API as whoever is signed in; `path` is relative to the page, as `v1/events`. Throws an
 * `ApiError`. A token that is no longer good ends the session.
 */
export async function ask<Answer>(path: string, options: Options = {}): Promise<Answer> {
  const asked = token();
  const response = await send(path, options, asked);
  if (response.ok) {
    // Guarantee: every answer of the API is checked against the schema of its type before it is sent,
    // and `wire.ts` says what that type is as JSON.
    return (await response.json()) as Answer;
  }
  const problem = await problemOf(response);
  if (problem.status === 401) signOut("expired", asked);
  if (problem.status === 403) signOut("forbidden", asked);
  throw problem;
}

/** The same without ending any session: to try a token before it is kept. */
export async function tryToken(value: string): Promise<void> {
  const response = await send("v1/events?limit=1", {}, value);
  await response.body?.cancel();
  if (!response.ok) throw new ApiError(response.status, "", "");
}

/** A token for the one-time code of `skyhook console`. Throws an `ApiError`. */
export async function exchange(code: string): Promise<string> {
  const response = await send("v1/auth/console", { method: "POST", body: { code } }, null);
  if (!response.ok) throw await problemOf(response);
  // Guarantee: as above; the answer's type is `AccessToken` of RFC 6749.
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
  const timeout = AbortSignal.timeout(timeoutMs);
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
      ? `No answer in ${timeoutMs / 1_000} s. Is the server busy?`
      : "The server cannot be reached. Is it running?";
    throw new ApiError(0, "unreachable", message);
  }
}

/** What a problem (RFC 9457) says. */
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
    // Something in between answered, not Skyhook.
  }
  return new ApiError(status, "", `The server answered ${status}`);
}
