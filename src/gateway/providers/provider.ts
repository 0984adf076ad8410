import type { Event, EventData } from "../event.ts";
import type { Message } from "../notification.ts";

import type { SignatureScheme } from "../signatures/signature.ts";

/**
 * Everything Skyhook knows about one external service: how it signs, what its payloads mean and what
 * operators are told. Adding a service means writing one of these; see docs/adding-a-provider.md.
 */
export interface Provider {
  /** The name in the URL, in the environment and in every event: lower-case letters and `_`. */
  readonly id: string;
  /** What people call it, for help texts and the console. */
  readonly displayName: string;
  readonly signature: SignatureScheme;
  /**
   * Whether the signature covers the delivery id. Where it does not, the id can be forged, and the
   * body's hash is reserved beside it.
   */
  readonly deliveryIdIsSigned: boolean;
  /**
   * Headers that only another kind of webhook of the same service carries. A delivery that has one and
   * does not verify is told apart from a wrong secret, for the operator.
   */
  readonly foreignHeaders?: readonly string[];
  /**
   * Headers that `normalise` reads, in lower case. Their values are stored with the event, for a replay to
   * read again; of headers that nobody names, values are not stored.
   */
  readonly readHeaders?: readonly string[];
  /** How every secret that the service hands out begins; `doctor` doubts one that does not. */
  readonly secretPrefix?: string;
  /** How one makes the webhook by hand at the service, for those who have to be told. */
  readonly setUp?: string;
  /** Larger deliveries are refused with 413, counted while they stream in. */
  readonly maxBodyBytes: number;
  /** The first field of the form in which the service may post its JSON; the form is what is signed. */
  readonly formField?: string;
  /** Turns a verified payload into an event. Pure, and never throws: a payload may hold anything. */
  normalise(delivery: VerifiedDelivery): Normalised;
  /** Each says what operators are told of an accepted event; null: nothing. */
  readonly notify: readonly NotifyFunction[];
  /** One example delivery for each listed event: what `skyhook send` signs and posts, and the tests. */
  readonly samples: Readonly<Record<string, SampleDelivery>>;
}

/** A delivery whose signature verified, with its parsed body. */
export interface VerifiedDelivery {
  readonly payload: JsonObject;
  /**
   * The first of these headers that was sent, or null. No signature covers it: whoever captured a
   * delivery can change it, so it must not change what the payload says.
   */
  readonly header: (...names: readonly string[]) => string | null;
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** What a payload means. The chain adds id, key, provider and time of receipt. */
export interface Normalised {
  /** `ignored`: verified, but not an event this provider lists. */
  readonly status: "accepted" | "ignored";
  readonly type: string;
  /** The provider's id of this delivery; null when it sent none, and the body's hash becomes the key. */
  readonly deliveryId: string | null;
  /** Null when the payload does not say. */
  readonly occurredAt: Date | null;
  readonly subject: string | null;
  readonly title: string;
  readonly url: string | null;
  readonly actor: string | null;
  readonly data: EventData;
}

export type NotifyFunction = (event: Event) => Message | null;

/** Makes a sample that no earlier one equals. */
export type SampleDelivery = (fresh: Fresh) => {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
};

/** What differs between two samples of one event. */
export interface Fresh {
  /** A UUID, new for each delivery. */
  readonly id: string;
  readonly now: Date;
}
