import { isNumber } from "../../base/json.ts";
import { decimalsAt, decimalsOf, moneyOf, moneyText, toMinor, unitsOf } from "../../base/money.ts";
import { idOf, type JsonObject, printable } from "../../base/payload.ts";
import { pointerKeys, valueAt } from "../../base/place.ts";
import type { PaymentNotice, PaymentPlaces, PaymentSource } from "../model/payment-notice.ts";

import type { Provider } from "./provider.ts";

const maxShownLength = 40;

/** What a verified payload says about the payment of a booking; null if it is about something else. Never throws. */
export function paymentIn(
  { id, payments: source }: Pick<Provider, "id" | "payments">,
  type: string,
  payload: JsonObject,
  occurredAt: Date | null,
): PaymentNotice | null {
  if (source === undefined) return null;
  const places = Object.hasOwn(source.events, type) ? source.events[type] : undefined;
  if (places === undefined) return null;
  const read = (place: string | undefined) =>
    place === undefined ? undefined : valueAt(payload, pointerKeys(place));
  const kind = kindOf(places, read);
  if (kind === null) return null;
  const reference = places.bookingReference.map(read).find((value) => !isMissing(value));
  const payment = idOf(textOf(read(places.payment)));
  // Without either, it belongs to no booking.
  if (isMissing(reference) && payment === null) return null;
  const amount = read(places.amount);
  // Such as a session that only saves a card.
  if (places.states !== undefined && payment === null && isMissing(amount)) return null;
  const currency = currencyOf(read(places.currency));
  const amountMinor = currency === null ? null : minorOf(source, amount, currency);
  return {
    provider: id,
    kind,
    booking: isMissing(reference) ? null : shown(reference),
    payment,
    part: idOf(textOf(read(places.part))),
    note: places.note === undefined ? null : noted(places.note.text, read(places.note.place)),
    atMs: occurredAt?.getTime() ?? null,
    amountMinor,
    currency,
    isTest: source.test !== undefined && read(source.test.place) === source.test.value,
    isForeign: !isMissing(read(source.foreignAccount)),
    amount:
      currency === null || amountMinor === null
        ? `${currency ?? shown(read(places.currency))} ${shown(amount)}`
        : moneyText(moneyOf(amountMinor, currency)),
  };
}

/** Such as `closed: lost`. */
function noted(text: string, more: unknown): string {
  return typeof more === "string" ? `${text}: ${shown(more).replaceAll("_", " ")}` : text;
}

/** What an event is about; null: nothing. */
function kindOf(
  { kind, states }: PaymentPlaces,
  read: (place: string) => unknown,
): PaymentNotice["kind"] | null {
  if (states === undefined) return kind;
  const state = textOf(read(states.place)) ?? "";
  return Object.hasOwn(states.kinds, state) ? (states.kinds[state] ?? null) : null;
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function currencyOf(value: unknown): string | null {
  const code = textOf(value)?.toUpperCase() ?? "";
  return decimalsOf(code) === undefined ? null : code;
}

/** The amount in minor units of ISO 4217, exactly; null if it is not an amount. */
function minorOf(
  { unit, decimals }: PaymentSource,
  amount: unknown,
  currency: string,
): number | null {
  // Some print the digits of the double: 99.989999999999995 is 99.99.
  const number = isNumber(amount) ? Number(amount) : null;
  if (unit === "major") {
    const text = number === null ? amount : String(number);
    return typeof text === "string" ? unitsOf(text, currency) : null;
  }
  if (number === null || !Number.isSafeInteger(number) || number < 0) return null;
  return toMinor(number, decimalsAt(decimals, currency), currency);
}

/** A value of any type as short printable text. A text is quoted where it could be taken for a number. */
function shown(value: unknown): string {
  if (isNumber(value)) return printable(String(value), maxShownLength) ?? "";
  if (typeof value !== "string") return isMissing(value) ? "(missing)" : `(${typeof value})`;
  const text = printable(value, maxShownLength) ?? "";
  return /^[\d.,+-]*$/.test(text) ? JSON.stringify(text) : text;
}
