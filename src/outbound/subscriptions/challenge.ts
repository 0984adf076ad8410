import { sameText } from "../../base/constant-time.ts";
import { errorMessage } from "../../base/errors.ts";
import { textAt } from "../../base/payload.ts";
import { jsonType } from "../formats/format.ts";
import { bodyTooLarge, subscriptionHeader } from "../formats/mcp.ts";
import { keyOf, signedHeaders } from "../formats/standard-webhooks.ts";
import { addressLookup } from "../transports/address.ts";
import { noAnswer, poster } from "../transports/post.ts";
import type { ConnectionParts } from "../transports/transport.ts";

/** Why a callback could not be reached. Agents receive only these words, never the text of an endpoint. */
export type CallbackError =
  "connection_refused" | "timeout" | "tls_error" | "http_4xx" | "http_5xx" | "challenge_failed";

/** An answer repeats the nonce and little else. */
const maxAnswerBytes = 1_024;

/**
 * Asks an endpoint to repeat a random text, which proves that it wants deliveries. Null if it does. Ends within ten
 * seconds.
 */
export type Challenge = (
  url: URL,
  secret: string,
  subscriptionId: string,
) => Promise<CallbackError | null>;

export function challenger(parts: ConnectionParts): Challenge {
  const { clock } = parts;
  const post = poster({ clock, addressesOf: addressLookup(parts), maxAnswerBytes });
  return async (url, secret, subscriptionId) => {
    const challenge = random();
    const body = JSON.stringify({ type: "verification", challenge });
    const id = `msg_verification_${random()}`;
    const signed = signedHeaders([keyOf(secret)], id, clock.now(), body);
    const headers = { ...jsonType, ...signed, [subscriptionHeader]: subscriptionId };
    try {
      const { signal } = new AbortController();
      const { status, text } = await post(url, { headers, body }, signal);
      if (status < 200 || status >= 300) return callbackError(status, null);
      return repeats(text, challenge) ? null : "challenge_failed";
    } catch (error) {
      return callbackError(null, errorMessage(error));
    }
  };
}

const random = () => crypto.getRandomValues(new Uint8Array(24)).toBase64({ alphabet: "base64url" });

function repeats(answer: string, challenge: string): boolean {
  try {
    const given: unknown = JSON.parse(answer);
    return sameText(textAt(given, "challenge") ?? "", challenge);
  } catch {
    return false;
  }
}

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
