import { unreachable } from "./errors.ts";

/** How a client reaches the server. */
export interface ClientOptions {
  /** Such as `https://skyhook.example.com`. */
  readonly baseUrl: string;
  /** An access token, or a function that returns a current one. Without: public requests only. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** Default: the runtime's. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** Attempts of one request, the first included. Default: 3. */
  readonly maxAttempts?: number | undefined;
}

/** The longest time to wait before a retry. A longer `Retry-After` is an error. */
const longestWaitMs = 30_000;
const firstWaitMs = 300;
/** Busy or restarting: the request was not carried out. */
const retried: readonly number[] = [429, 503];

/**
 * Returns how to send requests: with the token, and again after a network error, 429 or 503, where a repeat is harmless.
 * `keyed`: the paths whose POST takes an Idempotency-Key, which is made if it is missing.
 */
export function sender(
  { token, fetch: send = (request) => fetch(request), maxAttempts = 3 }: ClientOptions,
  keyed: readonly string[],
): (request: Request) => Promise<Response> {
  return async (request) => {
    const { pathname } = new URL(request.url);
    const headers = new Headers(request.headers);
    const isKeyed = request.method === "POST" && keyed.some((path) => pathname.endsWith(path));
    if (isKeyed && !headers.has("idempotency-key")) {
      headers.set("idempotency-key", crypto.randomUUID());
    }
    // A repeated DELETE could be told that there is nothing to delete.
    const isSafe = request.method === "GET" || request.method === "HEAD";
    const mayRepeat = isSafe || headers.has("idempotency-key");
    for (let attempt = 1; ; attempt += 1) {
      const current = typeof token === "function" ? await token() : token;
      if (current !== undefined) headers.set("authorization", `Bearer ${current}`);
      const isLast = !mayRepeat || attempt >= maxAttempts;
      // Guarantee: a clone is a request of the same kind.
      const copy = request.clone() as Request;
      for (const [name, value] of headers) copy.headers.set(name, value);
      const answer = await send(copy).catch((error: unknown) => {
        if (request.signal.aborted) throw error;
        if (isLast) throw unreachable(request.url, error);
        return null;
      });
      const waitMs = waitAfter(answer, attempt);
      if (answer !== null && (isLast || waitMs === null)) return answer;
      await answer?.body?.cancel();
      await pause(waitMs ?? 0, request.signal);
    }
  };
}

/** Null: no retry. */
function waitAfter(answer: Response | null, attempt: number): number | null {
  if (answer !== null && !retried.includes(answer.status)) return null;
  const named = Number(answer?.headers.get("retry-after") ?? Number.NaN) * 1_000;
  const waitMs = Number.isFinite(named)
    ? named
    : firstWaitMs * 2 ** attempt * (0.5 + Math.random());
  return waitMs > longestWaitMs ? null : waitMs;
}

export function pause(ms: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal?.aborted === true) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
