import type { Event } from "./event.ts";

/** A request to /webhooks/{provider}, before it is verified. */
export interface Delivery {
  readonly providerId: string;
  readonly method: string;
  readonly headers: Headers;
  readonly address: string;
  readonly requestId: string;
  /** The exact bytes; throws `body-too-large` beyond `maxBytes`. */
  readBody(maxBytes: number): Promise<Uint8Array>;
}

/** The answer to the sender, after the event is on disk. */
export interface Acknowledgement {
  readonly status: "accepted" | "duplicate" | "ignored";
  /** The stored event's id; for a duplicate, that of the first. */
  readonly id: Event["id"];
  readonly idempotencyKey: string;
  /** The event's type. */
  readonly event: string;
}
