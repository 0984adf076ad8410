import type { Clock } from "../../base/clock.ts";
import { sameText } from "../../base/constant-time.ts";
import { errorMessage } from "../../base/errors.ts";
import { textAt } from "../../base/payload.ts";
import type { Resolve } from "../../base/public-address.ts";
import { jsonType } from "../formats/format.ts";
import { subscriptionHeader } from "../formats/mcp.ts";
import { keyOf, signedHeaders } from "../formats/standard-webhooks.ts";
import { type AddressRules, publicAddressesOf } from "../transports/address.ts";
import { poster } from "../transports/post.ts";

import { type CallbackError, callbackError } from "./callback-error.ts";

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

interface Parts {
  readonly clock: Clock;
  readonly rules: AddressRules;
  readonly resolve: Resolve;
}

export function challenger({ clock, rules, resolve }: Parts): Challenge {
  const post = poster({
    clock,
    addressesOf: async (url) => (rules.allowsPrivate ? null : publicAddressesOf(url, resolve)),
    maxAnswerBytes,
  });
  return async (url, secret, subscriptionId) => {
    const challenge = random();
    const body = JSON.stringify({ type: "verification", challenge });
    const id = `msg_verification_${random()}`;
    const signed = signedHeaders([keyOf(secret)], id, clock.now(), body);
    const headers = { ...jsonType, ...signed, [subscriptionHeader]: subscriptionId };
    try {
      const { signal } = new AbortController();
      const { status, bytes } = await post(url, { headers, body }, signal);
      if (status < 200 || status >= 300) return callbackError(status, null);
      return repeats(bytes, challenge) ? null : "challenge_failed";
    } catch (error) {
      return callbackError(null, errorMessage(error));
    }
  };
}

const random = () => crypto.getRandomValues(new Uint8Array(24)).toBase64({ alphabet: "base64url" });

function repeats(answer: Uint8Array | null, challenge: string): boolean {
  try {
    const given: unknown = JSON.parse(new TextDecoder().decode(answer ?? new Uint8Array()));
    return sameText(textAt(given, "challenge") ?? "", challenge);
  } catch {
    return false;
  }
}
