import type { Event } from "../event/event.ts";

/** A request to /webhooks/{provider}, before it is verified. */
export interface WebhookRequest {
  readonly providerId: string;
  readonly method: string;
  /** The URL as the provider knows it: the public base URL, then path and query as sent. */
  readonly url: string;
  readonly headers: Headers;
  readonly address: string;
  readonly requestId: string;
  /** Whether Skyhook signed it itself. It then does not show which secret the provider signs with. */
  readonly isTest?: boolean;
  /** Reads the exact bytes. Throws `body-too-large` beyond `maxBytes`. */
  readBody(maxBytes: number): Promise<Uint8Array>;
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

/** The response to the sender, given after the event is on disk. */
export interface Acknowledgement {
  readonly status: "accepted" | "duplicate" | "ignored";
  /** The id of the stored event. For a duplicate, the id of the first one. */
  readonly id: Event["id"];
  readonly idempotencyKey: string;
  /** The event's type. */
  readonly event: string;
}
