import { consoleHeaders, takeEarly } from "./early.ts";
import { session, signOut } from "./session.ts";

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
  const { method = "GET", body, headers: more, signal } = options;
  const expected = session()?.id ?? null;
  const headers = new Headers({ ...consoleHeaders, ...more });
  if (body !== undefined) headers.set("content-type", "application/json");
  const timeout = AbortSignal.timeout(requestTimeoutMs);
  const request = () =>
    fetch(path, {
      method,
      headers,
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  let response: Response;
  try {
    response = await (takeEarly(path, method) ?? request());
  } catch (error) {
    if (signal?.aborted === true) throw error;
    const message = timeout.aborted
      ? `The server did not respond within ${requestTimeoutMs / 1_000} s. Try again.`
      : "Cannot reach the server. Check that it is running.";
    throw new ApiError(0, "unreachable", message);
  }
  if (response.ok) {
    // Guarantee: the server checks every response against the schema of its type before it sends it, and
    // `wire.ts` derives the JSON form of that type.
    return (await response.json()) as Answer;
  }
  if (response.status === 401) signOut("expired", expected);
  if (response.status === 403) signOut("forbidden", expected);
  throw await problemOf(response);
}

type Unread<Name extends string> = { readonly [Each in Name]?: unknown };

/** Reads a problem document (RFC 9457). What is not JSON comes from a proxy, not from Skyhook. */
async function problemOf(response: Response): Promise<ApiError> {
  const { status } = response;
  const body: Unread<"code" | "detail" | "requestId" | "errors"> = Object(
    await response.json().catch(() => null),
  );
  const { code, detail, requestId } = body;
  if (typeof detail !== "string") {
    return new ApiError(status, "", `The server responded with status ${status}.`);
  }
  const errors: readonly Unread<"detail" | "pointer">[] = Array.isArray(body.errors)
    ? body.errors.map(Object)
    : [];
  const details = errors.map((error) => String(error.detail));
  // Without the slash of the JSON pointer.
  const fields = errors.flatMap((error) =>
    typeof error.pointer === "string"
      ? [[error.pointer.replace(/^\//, ""), String(error.detail)] as const]
      : [],
  );
  const id = typeof requestId === "string" ? requestId : null;
  return new ApiError(status, String(code), detail, id, details, new Map(fields));
}
