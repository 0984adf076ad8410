import type { ServiceDecimals } from "../../base/money.ts";

/** What an event says about the payment of a booking, as its provider says it. */
export interface PaymentNotice {
  /** The provider that sent it. */
  readonly provider: string;
  /** `pending`: the customer has finished, but the money is not there yet. */
  readonly kind: "paid" | "pending" | "failed" | "refunded" | "refund_failed" | "disputed";
  /** The id or reference of the booking, not checked yet; null if the event names none. */
  readonly booking: string | null;
  /** The provider's id of the payment. A payment and its refunds have the same; null if unknown. */
  readonly payment: string | null;
  /** The provider's id of the refund that failed, or of the dispute; null for other kinds. */
  readonly part: string | null;
  /** How a dispute stands, or why a refund failed; null if it says neither. */
  readonly note: string | null;
  /** When it happened, in milliseconds since the epoch; null if the event has no time. */
  readonly atMs: number | null;
  /**
   * In minor units. A refund's is the sum of all refunds of the payment that did not fail; that of a failed one is its own.
   * Null if it cannot be read.
   */
  readonly amountMinor: number | null;
  /** ISO 4217 code; null if it is not one. */
  readonly currency: string | null;
  /** Whether another account received the money, which is no payment to this service's operator. */
  readonly isForeign: boolean;
  /** Whether it is a test, in which no money was paid. */
  readonly isTest: boolean;
  /** The amount for people, as `EUR 42.00`; as it was sent, if it cannot be read. */
  readonly amount: string;
}

/** Where a provider's payload has the payment of a booking. Places are JSON pointers (RFC 6901). */
export interface PaymentSource {
  /** The events about payments, by Skyhook's type. */
  readonly events: Readonly<Record<string, PaymentPlaces>>;
  /** `minor`: whole numbers of cents. `major`: decimals as `12.50`, as numbers or texts. */
  readonly unit: "minor" | "major";
  /** Where events about the money of other accounts name the account. Absent in those about the own account. */
  readonly foreignAccount?: string;
  /** Where events about test payments say so, and the value that says it. */
  readonly test?: { readonly place: string; readonly value: string | boolean };
  /** The decimals of currencies that the service counts otherwise than ISO 4217 does. */
  readonly decimals: ServiceDecimals;
}

export interface PaymentPlaces {
  /** The type of such events before the provider listed them, if it is another. */
  readonly unlistedType?: string;
  readonly kind: PaymentNotice["kind"];
  /** Where the payload itself says what it is, and what its values mean. Other values are about something else. */
  readonly states?: {
    readonly place: string;
    readonly kinds: Readonly<Record<string, PaymentNotice["kind"]>>;
  };
  /** Where the id or reference of the booking is: the first of these places that has a value. */
  readonly bookingReference: readonly [string, ...string[]];
  readonly amount: string;
  readonly currency: string;
  /** Where the id of the payment is. */
  readonly payment?: string;
  /** Where the id of the refund that failed or of the dispute is. */
  readonly part?: string;
  /** What happened, and where the payload says more about it. */
  readonly note?: { readonly text: string; readonly place: string };
}
