import { parseMinor } from "../../base/money.ts";
import { at, itemsAt, textAt } from "../../base/payload.ts";
import { paymentKind, paymentSample } from "../../inbound/providers/payment-sample.ts";
import type { Provider } from "../../inbound/providers/provider.ts";
import { UsageError } from "../kit/output.ts";
import { bookingOf, type BookingOptions } from "../kit/server-bookings.ts";

/**
 * The provider with a sample that pays a booking its price or its pending change, or refunds what is due. Reads the booking from
 * the server, as an admin. Throws if the event is not about payments or the server has no such booking.
 */
export async function withBooking(
  provider: Provider,
  type: string | undefined,
  options: BookingOptions,
  env: NodeJS.ProcessEnv,
): Promise<Provider> {
  const kind = paymentKind(provider, type ?? "");
  const sample = provider.samples[type ?? ""];
  if (type === undefined || kind === undefined || sample === undefined) {
    const types = Object.keys(provider.payments?.events ?? {}).join(", ");
    throw new UsageError(
      types === ""
        ? `${provider.id} has no events about payments of bookings`
        : `--booking is for events about payments: ${types}`,
    );
  }
  const found = await bookingOf(options, env);
  const booking = textAt(found, "bookingId") ?? options.booking;
  const currency = textAt(found, "currency") ?? "";
  const due = kind === "refunded" ? at(found, "refund", "amount") : undefined;
  const changes = kind === "paid" ? itemsAt(found, "changes") : [];
  const pending = changes.find((change) => at(change, "status") === "pending");
  const price = pending === undefined ? at(found, "totalPrice") : at(pending, "changeTotal");
  const amountMinor = parseMinor(String(due ?? price), currency);
  // Derived from the booking, so that a refund is one of the payment that was sent before.
  const payment = `pi_${(textAt(pending, "id") ?? booking).slice(-12)}`;
  const changed = paymentSample(provider, type, sample, {
    booking,
    amountMinor,
    currency,
    payment,
  });
  return { ...provider, samples: { ...provider.samples, [type]: changed } };
}
