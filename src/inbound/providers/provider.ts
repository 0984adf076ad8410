import type { JsonObject } from "../../base/payload.ts";
import type { DataFields } from "../../event/data-fields.ts";
import type { EventContent, EventData } from "../../event/event.ts";
import type { NewNotification, Severity } from "../../event/new-notification.ts";
import type { PaymentNotice, PaymentSource } from "../model/payment-notice.ts";
import type { SignatureScheme } from "../signatures/scheme.ts";

import type { Handshake } from "./handshake.ts";

/** A delivery, or one of the events in it: JSON, parsed and exactly as sent. */
export interface Sent<Value = unknown> {
  readonly value: Value;
  readonly text: string;
  /** Identifies it together with its text: a hash of the texts, numbers and literals in the objects around it. */
  readonly context: string;
}

/**
 * Describes one external service: how it signs, how to interpret its payloads and what to notify operators
 * of. To add a service, write one of these; see CONTRIBUTING.md.
 */
export interface Provider {
  /** The name in the URL, in the environment and in every event: lower-case letters and `_`. */
  readonly id: string;
  /** The name that people know, such as `GitHub`: shown wherever people read about the provider. */
  readonly displayName: string;
  readonly signature: SignatureScheme;
  /**
   * Whether the signature covers the delivery id. If not, the id can be forged, so the hash of the body
   * must be unique too.
   */
  readonly deliveryIdIsSigned: boolean;
  /**
   * Headers that only another kind of webhook of the same service has. If a request with one of them does
   * not verify, operators see `unsupported-scheme` as the reason.
   */
  readonly foreignHeaders?: readonly string[];
  /**
   * Headers that `interpret` reads, in lower case. Their values are stored with the event, for replays.
   * Values of unknown headers are not stored.
   */
  readonly readHeaders?: readonly string[];
  /** Parameters of the URL's query that `interpret` reads, and that are stored too. No signature may cover them. */
  readonly readQuery?: readonly string[];
  /** The prefix of all secrets that the service issues. `doctor` warns of a secret without it. */
  readonly secretPrefix?: string;
  /** How to create the webhook at the service, where that is not obvious. */
  readonly setUp?: string;
  /** The service's page on which webhooks are set up. */
  readonly settings?: string;
  /** The file that describes it; undefined for a built-in provider. */
  readonly path?: string;
  /** Equal for equal files; undefined for a built-in provider. */
  readonly revision?: string;
  /** The service's page about its webhooks. */
  readonly docs?: string;
  /** What the scheme was checked against. */
  readonly checkedWith?: string;
  readonly handshakes?: readonly Handshake[];
  /** The formats and hosts of destinations at the same service, besides the format of the same name. */
  readonly destinations?: readonly string[];
  /** The maximum body size. Larger bodies get 413 while they stream in. */
  readonly maxBodyBytes: number;
  /**
   * What the body is. Default: a JSON object. `json`: an object or an array. `form`: its fields are the payload. `jwt`: the claims of the
   * token that the signature is are the payload. `text`, `xml`, `bytes`: the payload has only their text, as `text`, if they have one.
   */
  readonly payload?: "object" | "json" | "form" | "jwt" | "text" | "xml" | "bytes";
  /** Finds the items of a payload that are events of their own; none: the payload is the only one. Undefined: always. */
  readonly itemsIn?: (delivery: Sent) => readonly Sent[];
  /** The places whose values a retry changes: JSON pointers relative to the item. */
  readonly retryChanges?: readonly string[];
  /** Whether a retry has another signed time. */
  readonly retryChangesTime?: boolean;
  /** If the service can post its JSON as a form: the field that holds it. The signature covers the whole form. */
  readonly formField?: string;
  /** Converts a verified payload into an event. Pure. Never throws, whatever the payload contains. */
  interpret(request: VerifiedRequest): Interpretation;
  /** Which events are about the payment of a booking; undefined if none are. */
  readonly payments?: PaymentSource;
  /** The fields of `data` that its events can have. */
  readonly data: DataFields;
  /** The types of event that notify; `*`: also others. Undefined: those that have a sample. */
  readonly types?: readonly string[];
  /** Called for each accepted event. Each function returns a notification, or null for none. */
  readonly notify: readonly NotifyFunction[];
  /** One example request for each listed event, used by `skyhook send` and the tests. */
  readonly samples: Readonly<Record<string, Sample>>;
}

/** A request whose signature verified, with its parsed body. */
export interface VerifiedRequest {
  /** The parsed body, or one of its items. */
  readonly payload: JsonObject;
  /** The parsed body. Default: `payload`. */
  readonly delivery?: JsonObject;
  /**
   * The first of these headers that was sent, or null. Headers are not signed, so anyone who captured a
   * request can change them: they must not override the payload.
   */
  readonly header: (...names: readonly string[]) => string | null;
  /** The query of the URL, with the parameters in `readQuery`. Default: empty. */
  readonly query?: string;
}

/** An interpreted payload. The receiver adds id, idempotency key, provider and time of receipt. */
export interface Interpretation {
  /** `ignored`: verified, but not an event this provider lists, or caused by Skyhook. */
  readonly status: "accepted" | "ignored";
  readonly type: string;
  /** The provider's delivery id. If null, the hash of the body becomes the idempotency key. */
  readonly deliveryId: string | null;
  /**
   * The service's name of the event if the signature does not cover it; empty if it is not listed. Then requests
   * with equal bodies can be different events, so the name is part of the request's identity.
   */
  readonly unsignedName?: string;
  /** Null if the payload has no time. */
  readonly occurredAt: Date | null;
  readonly subject: string | null;
  readonly title: string;
  readonly url: string | null;
  readonly actor: string | null;
  readonly data: EventData;
  /** What only the notification shows, where the file decides it. */
  readonly notice?: Notice;
}

/** What a file says about a notification, and no field of its event. */
export interface Notice {
  readonly severity: Severity;
  /** Null for the default text. */
  readonly text: string | null;
}

/** An interpreted payload or item, with what it says about the payment of a booking. */
export interface Interpreted extends Interpretation, Omit<Sent, "value"> {
  /** The number of the item, from 1; null if it is the whole payload. */
  readonly item: number | null;
  /** Null if it is about something else. */
  readonly payment: PaymentNotice | null;
}

type NotifyFunction = (event: EventContent, notice: Notice | null) => NewNotification | null;

/** Creates a sample that differs from all earlier ones. */
export type Sample = (fresh: Fresh) => {
  readonly headers: Readonly<Record<string, string>>;
  /** What the service adds to the URL. */
  readonly query?: Readonly<Record<string, string>>;
  readonly body: JsonObject;
};

/** The values that make a sample unique. */
export interface Fresh {
  /** A UUID, new for each request. */
  readonly id: string;
  readonly now: Date;
}
