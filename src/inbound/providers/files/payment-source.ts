import type { PaymentNotice, PaymentPlaces, PaymentSource } from "../../payment-notice.ts";
import { typeName } from "../event-fields.ts";

import type { ProviderFile } from "./provider-file.schema.ts";

type FilePayment = NonNullable<ProviderFile["payment"]>;

/** Where a valid file says that payments are. */
export function paymentSource(file: ProviderFile, payment: FilePayment): PaymentSource {
  const { kinds, currency, unit = "minor", decimals = {}, test } = payment;
  const events = Object.entries(kinds).flatMap(([name, kind]) => {
    const event = file.events[name];
    const bookingReference = event?.bookingReference ?? file.bookingReference;
    const amount = placeFor(kind, payment.amount);
    if (bookingReference === undefined || amount === undefined) return [];
    const id = placeFor(kind, payment.id);
    const type = event?.type ?? typeName(name);
    const unlistedType = typeName(name);
    const places: PaymentPlaces = {
      ...(unlistedType !== type && { unlistedType }),
      kind,
      bookingReference,
      amount,
      currency,
      ...(id !== undefined && { payment: id }),
    };
    return [[type, places] as const];
  });
  return {
    events: Object.fromEntries(events),
    unit,
    decimals,
    ...(test !== undefined && { test: { place: test.at, value: test.is } }),
  };
}

function placeFor(
  kind: PaymentNotice["kind"],
  places: FilePayment["amount"] | undefined,
): string | undefined {
  return typeof places === "object" ? places[kind] : places;
}
