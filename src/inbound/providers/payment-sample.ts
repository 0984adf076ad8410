import { decimalsAt, decimalsOf, moneyOf } from "../../base/money.ts";
import { pointerKeys } from "../../base/place.ts";
import type { PaymentNotice } from "../model/payment-notice.ts";

import type { Provider, Sample } from "./provider.ts";
import { setAt } from "./signed-sample.ts";

/** What a sample says about the payment of a booking. */
interface SamplePayment {
  /** The id or reference of the booking. */
  readonly booking: string;
  /** In minor units. A refund's is the sum of all refunds of the payment. */
  readonly amountMinor: number;
  /** ISO 4217 code. */
  readonly currency: string;
  /** The provider's id of the payment. A payment and its refunds have the same. */
  readonly payment: string;
}

/** What an event of this provider says about payments; undefined if it is about something else. */
export function paymentKind(
  { payments }: Pick<Provider, "payments">,
  type: string,
): PaymentNotice["kind"] | undefined {
  return payments !== undefined && Object.hasOwn(payments.events, type)
    ? payments.events[type]?.kind
    : undefined;
}

/**
 * A sample that is about a payment of a booking. The values are where the payloads of the provider have them.
 * Unchanged if the event is about something else.
 */
export function paymentSample(
  { payments }: Pick<Provider, "payments">,
  type: string,
  sample: Sample,
  { booking, amountMinor, currency, payment }: SamplePayment,
): Sample {
  const places = payments?.events[type];
  if (payments === undefined || places === undefined) return sample;
  const own = decimalsOf(currency) ?? 0;
  const decimals = decimalsAt(payments.decimals, currency) ?? own;
  const amount =
    payments.unit === "minor"
      ? amountMinor * 10 ** (decimals - own)
      : moneyOf(amountMinor, currency).amount.toFixed(own);
  return (fresh) => {
    const { headers, body } = sample(fresh);
    const copy = structuredClone(body);
    setAt(copy, pointerKeys(places.bookingReference[0]), booking);
    setAt(copy, pointerKeys(places.amount), amount);
    setAt(copy, pointerKeys(places.currency), currency.toLowerCase());
    if (places.payment !== undefined) setAt(copy, pointerKeys(places.payment), payment);
    return { headers, body: copy };
  };
}
