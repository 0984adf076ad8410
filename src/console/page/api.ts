import { session, signOut } from "./session/session.ts";
import type { SessionInfo } from "./wire.ts";

const requestTimeoutMs = 20_000;

/** An error response of the API, or no response at all (status 0). */
export class ApiError extends Error {
  override readonly name = "ApiError";
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly requestId: string | null = null,
    /** What is wrong, one line for each error of the body. */
    readonly details: readonly string[] = [],
    /** What is wrong with each field of the body, by its name. */
    readonly fields: ReadonlyMap<string, string> = new Map(),
  ) {
    super(message);
  }
}

interface Options {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Calls the API with the session's cookie. `path` is relative to the page: `v1/events`. Throws an `ApiError`.
 * A 401 or 403 ends the session.
 */
export async function callApi<Answer>(path: string, options: Options = {}): Promise<Answer> {
  const expected = session()?.id ?? null;
  const response = await send(path, options);
  if (response.ok) {
    // Guarantee: the server checks every response against the schema of its type before it sends it, and
    // `wire.ts` derives the JSON form of that type.
    return (await response.json()) as Answer;
  }
  const problem = await problemOf(response);
  if (problem.status === 401) signOut("expired", expected);
  if (problem.status === 403) signOut("forbidden", expected);
  throw problem;
}

/** Signs in with a one-time code of `skyhook console`, or with a token. Throws an `ApiError`. */
export async function openSession(
  by: { readonly code: string } | { readonly token: string },
): Promise<SessionInfo> {
  const options =
    "code" in by ? { body: by } : { headers: { authorization: `Bearer ${by.token}` } };
  const response = await send("v1/auth/session", { method: "POST", ...options });
  if (!response.ok) throw await problemOf(response);
  // Guarantee: as in `callApi`.
  return (await response.json()) as SessionInfo;
}

/** The session of this browser; null if it has none. Throws an `ApiError`. */
export async function readSession(): Promise<SessionInfo | null> {
  const response = await send("v1/auth/session", {});
  if (response.status === 401) return null;
  if (!response.ok) throw await problemOf(response);
  // Guarantee: as in `callApi`.
  return (await response.json()) as SessionInfo;
}

/** Ends the session on the server, and with it that of the other tabs. */
export async function closeSession(): Promise<void> {
  const response = await send("v1/auth/session", { method: "DELETE" });
  if (!response.ok) throw await problemOf(response);
}

/** Other sites cannot send this header, so the server knows that the console made the request. */
export const consoleHeaders = { "x-skyhook-console": "1" };

async function send(
  path: string,
  { method = "GET", body, headers: more = {}, signal }: Options,
): Promise<Response> {
  const headers = new Headers({ ...consoleHeaders, ...more });
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

/** The texts of the `errors` of a problem. */
function detailsOf(errors: unknown): readonly string[] {
  if (!Array.isArray(errors)) return [];
  return errors.flatMap((error: unknown) => {
    if (typeof error !== "object" || error === null || !("detail" in error)) return [];
    return typeof error.detail === "string" ? [error.detail] : [];
  });
}

/** Reads a problem document (RFC 9457). */
async function problemOf(response: Response): Promise<ApiError> {
  const { status } = response;
  try {
    const body: unknown = await response.json();
    if (typeof body === "object" && body !== null) {
      const problem: { code?: unknown; detail?: unknown; requestId?: unknown; errors?: unknown } =
        body;
      const requestId = typeof problem.requestId === "string" ? problem.requestId : null;
      if (typeof problem.detail === "string") {
        const { code, detail, errors } = problem;
        const details = detailsOf(errors);
        return new ApiError(status, String(code), detail, requestId, details, fieldErrors(errors));
      }
    }
  } catch {
    // Not JSON: the response comes from a proxy, not from Skyhook.
  }
  return new ApiError(status, "", `The server responded with status ${status}.`);
}

/** The details of `errors` by the name of the field, without the slash of its JSON pointer. */
function fieldErrors(errors: unknown): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const error of Array.isArray(errors) ? errors : []) {
    const { pointer, detail }: { pointer?: unknown; detail?: unknown } = Object(error);
    if (typeof pointer === "string") fields.set(pointer.replace(/^\//, ""), String(detail));
  }
  return fields;
}
