import type { Clock } from "../../base/clock.ts";
import { connectionError, errorCode } from "../../base/errors.ts";
import { printable } from "../../base/payload.ts";
import { AddressError, type AddressesOf, fetchAt } from "../../base/public-address.ts";
import { responseText } from "../../base/response-text.ts";
import { retryAfterMs } from "../../base/times.ts";

/** The content of one POST, or of a PUT; a GET has no body. */
export interface PostRequest {
  readonly method?: "POST" | "PUT" | "GET";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer>;
}

/** What a destination answered. */
export interface PostResponse {
  readonly status: number;
  readonly retryAfterMs: number | null;
  /** The beginning of the answer, on one line. If the poster reads answers, the whole of a success. */
  readonly text: string;
}

/** A request without a usable answer. The message is shown to operators. */
export class PostError extends Error {
  override readonly name = "PostError";
}

/**
 * Posts to a destination. Throws a `PostError`; an `AddressError` if the address is not allowed. Ends within
 * ten seconds, however slowly the destination answers, or when `signal` aborts. `startedMs`: when they began, by
 * `performance.now()`, if something else had to be asked first.
 */
export type Post = (
  url: URL,
  request: PostRequest,
  signal: AbortSignal,
  startedMs?: number,
) => Promise<PostResponse>;

const timeoutMs = 10_000;
/** Maximum bytes shown of a response. */
const maxExcerptBytes = 200;
/** A body that ends within these is read whole, which keeps the connection for the next request. */
const shortAnswerBytes = 64 * 1024;
const shortAnswerMs = 1_000;

interface PostParts {
  readonly clock: Clock;
  readonly addressesOf: AddressesOf;
  /** Reads successes up to this size. Without it, the status alone is the answer. */
  readonly maxAnswerBytes?: number;
}

export function poster({ clock, addressesOf, maxAnswerBytes }: PostParts): Post {
  return async (url, { method = "POST", headers, body }, signal, startedMs = performance.now()) => {
    const ending = new AbortController();
    const end = () => ending.abort();
    let isLate = false;
    const cancelTimeout = clock.after(
      Math.ceil(timeoutMs - (performance.now() - startedMs)),
      () => {
        isLate = true;
        end();
      },
    );
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    try {
      const init: RequestInit & { readonly signal: AbortSignal } = {
        method,
        // A redirect could send the notification to an unintended recipient.
        redirect: "manual",
        signal: ending.signal,
        headers: { "user-agent": "Skyhook", ...headers },
        ...(method !== "GET" && { body }),
      };
      const response = await fetchAt(url, init, addressesOf);
      return {
        status: response.status,
        retryAfterMs: retryAfterMs(response.headers.get("retry-after"), clock.now()),
        text:
          response.ok && maxAnswerBytes !== undefined
            ? await answerOf(response, maxAnswerBytes, ending.signal)
            : await excerptOf(response, clock),
      };
    } catch (error) {
      if (isLate) throw new PostError(`no answer within ${timeoutMs / 1_000} s`);
      if (error instanceof AddressError) throw error;
      throw new PostError(reasonOf(error, url), { cause: error });
    } finally {
      signal.removeEventListener("abort", end);
      cancelTimeout();
    }
  };
}

/** Empty for an answer that is larger or damaged. */
function answerOf(response: Response, maxBytes: number, signal: AbortSignal): Promise<string> {
  return responseText(response, maxBytes).catch((error: unknown) => {
    if (signal.aborted) throw error;
    return "";
  });
}

/**
 * The first bytes of a response as one line; empty if it is compressed. The status says whether the request succeeded, so a
 * body that is cut off or never ends changes nothing.
 */
async function excerptOf(response: Response, clock: Clock): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const cancel = () => void reader.cancel().catch(() => {});
  const cancelTimeout = clock.after(shortAnswerMs, cancel);
  let [beginning, bytes] = [Buffer.alloc(0), 0];
  try {
    while (bytes <= shortAnswerBytes) {
      const { done, value } = await reader.read();
      if (done) break;
      bytes += value.length;
      beginning = Buffer.concat([beginning, value]).subarray(0, maxExcerptBytes);
    }
  } catch {
    // What came before the end of the connection is shown.
  }
  cancelTimeout();
  cancel();
  const isPlain = (response.headers.get("content-encoding") ?? "identity") === "identity";
  const text = isPlain ? new TextDecoder().decode(beginning) : "";
  return printable(text.replaceAll(/\s+/gu, " ")) ?? "";
}

/** Why a request failed. The URL may hold a secret, which the runtime repeats in some messages. */
function reasonOf(error: unknown, url: URL): string {
  const known = connectionError(error);
  if (known !== null) return known;
  const [message = ""] = error instanceof Error ? error.message.split(' fetching "') : [];
  return message === "" || message.includes(url.pathname.slice(1) || url.href)
    ? (errorCode(error) ?? "the request failed")
    : message;
}
