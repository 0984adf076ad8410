import type { Event } from "./event.ts";

/** A request to /webhooks/{provider}, before it is verified. */
export interface Delivery {
  readonly providerId: string;
  readonly method: string;
  readonly headers: Headers;
  readonly address: string;
  readonly requestId: string;
  /** Reads the exact bytes. Throws `body-too-large` beyond `maxBytes`. */
  readBody(maxBytes: number): Promise<Uint8Array>;
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
