import { bodyTooLarge } from "../formats/mcp.ts";
import { noAnswer } from "../transports/post.ts";

/** Why a callback could not be reached. Agents receive only these words, never the text of an endpoint. */
export type CallbackError =
  "connection_refused" | "timeout" | "tls_error" | "http_4xx" | "http_5xx" | "challenge_failed";

/**
 * The error of an attempt. An address that is not allowed looks like one that refuses connections, so that agents cannot
 * explore the network of the server.
 */
export function callbackError(status: number | null, error: string | null): CallbackError {
  // A redirect is not followed, and a body that is not sent is one that a client would refuse.
  if (status !== null) return status >= 500 ? "http_5xx" : "http_4xx";
  if (error === bodyTooLarge) return "http_4xx";
  if (error === noAnswer) return "timeout";
  return /certificate|\b(?:tls|ssl|cert)/i.test(error ?? "") ? "tls_error" : "connection_refused";
}
