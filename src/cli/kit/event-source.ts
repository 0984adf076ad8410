import { parseJson } from "../../base/json.ts";
import type { JsonObject } from "../../base/payload.ts";
import { SkyhookError } from "../../client/errors.ts";
import { type FeedOptions, follow } from "../../client/feed.ts";

import { isItRunning, jsonObject, reasonOf } from "./request.ts";
import { serverError } from "./server-tokens.ts";

/** One message of the server's stream of events. */
export interface SourceMessage {
  /** The position to resume after. */
  readonly seq: number;
  /** Null: only a position. */
  readonly event: JsonObject | null;
}

export interface Source {
  /** The address of the stream, with its filters. */
  readonly url: string;
  readonly mint: () => Promise<string>;
  readonly signal: AbortSignal;
  /** Called when the connection is lost, before it is tried again after `delayMs`. */
  readonly onLost: (reason: string, delayMs: number) => void;
  /** Called when the server has answered. */
  readonly onConnected: () => void;
}

const maxBeginningBytes = 64 * 1024;

/**
 * Yields the messages after `seq`, or new ones if null, until the signal aborts. Reconnects with growing
 * delays, and resumes after the last yielded message. Throws an error that says what to do if the server rejects the
 * request, or if none answers the first one: its address is wrong, or it does not run.
 */
export async function* messagesOf(
  { url, mint, signal, onLost, onConnected }: Source,
  seq: number | null,
): AsyncGenerator<SourceMessage, void> {
  let wasThere = false;
  const send = (request: Request) => sent(request, mint);
  const options: FeedOptions = {
    lastEventId: String(seq ?? ""),
    signal,
    onOpen() {
      wasThere = true;
      onConnected();
    },
    onLost(error, delayMs) {
      const reason = reasonOf(error);
      // A server that is busy is there.
      wasThere ||= error instanceof SkyhookError;
      if (wasThere) return onLost(reason, delayMs);
      throw new Error(`${new URL(url).origin} cannot be reached (${reason}): ${isItRunning}`);
    },
  };
  for await (const { id, type, data } of follow(send, url, options, parseJson)) {
    if (/^\d{1,16}$/.test(id)) yield { seq: Number(id), event: type === "event" ? data : null };
  }
}

async function sent(request: Request, mint: () => Promise<string>): Promise<Response> {
  request.headers.set("authorization", `Bearer ${await mint()}`);
  // Redirects are not followed, so that the token does not reach another server.
  const response = await fetch(request, { redirect: "manual" });
  if (response.ok) return response;
  const { status, ok } = response;
  const text = await beginningOf(response);
  const answer = { status, ok, location: null, text, json: jsonObject(text) };
  throw new SkyhookError(status, { detail: serverError(answer, "operator") });
}

/** The beginning of a response's body. Does not wait for the rest. */
export async function beginningOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    text += decoder.decode(chunk.subarray(0, maxBeginningBytes), { stream: true });
    // Leaving the loop cancels the rest.
    if (bytes >= maxBeginningBytes) break;
  }
  return text;
}
