import type { Static } from "@sinclair/typebox";

import { prefixedId, resource, text, word } from "../../web/schema.ts";

/** A request to /webhooks/{provider}, before it is verified. */
export interface WebhookRequest {
  readonly providerId: string;
  /** Whether the path goes on after the provider: with a secret, or with what no provider expects. */
  readonly isLonger?: boolean;
  readonly method: string;
  /** The URL as the provider knows it: the public base URL, then path and query as sent. */
  readonly url: string;
  readonly headers: Headers;
  readonly address: string;
  readonly requestId: string;
  /** Whether Skyhook signed it itself. It then does not show which secret the provider signs with. */
  readonly isTest?: boolean;
  /** Reads the exact bytes, at once if they have arrived. Throws `body-too-large` beyond `maxBytes`. */
  readBody(maxBytes: number): Uint8Array | Promise<Uint8Array>;
}

/**
 * A request from the provider's own log, read through its API. The API's connection and token vouch for it, in
 * place of a signature.
 */
export interface LoggedRequest {
  readonly providerId: string;
  /** The headers that the log has, with the delivery's id and event if the provider sends them in headers. */
  readonly headers: Headers;
  /** The API's host. */
  readonly address: string;
  /**
   * The body as the provider may have sent it, most likely first. Several where the log keeps a parsed payload
   * and not its bytes.
   */
  readonly bodies: readonly [Uint8Array, ...Uint8Array[]];
}

/** The response to the sender. */
export const acknowledgementSchema = resource(
  "Acknowledgement",
  "Returned only after the event is on disk.",
  {
    status: word(["accepted", "duplicate", "ignored"]),
    id: prefixedId("evt_", "The stored event. For a duplicate, the first one."),
    idempotencyKey: text(
      "Provider and delivery id, or the hash of the body.",
      "code_host:72d3162e",
    ),
    event: text("The event's type.", "pull_request.opened"),
  },
);

export interface Acknowledgement extends Static<typeof acknowledgementSchema> {}
