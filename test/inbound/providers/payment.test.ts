import { expect, test } from "bun:test";

import { parseJson } from "../../../src/base/json.ts";
import { paymentIn } from "../../../src/inbound/providers/payment.ts";

const places = {
  kind: "paid",
  bookingReference: ["/booking"],
  amount: "/amount",
  currency: "/in",
} as const;

// Some services print all digits of a double.
test.each([
  ["major", "99.99", 9_999, "USD 99.99"],
  ["major", "99.989999999999995", 9_999, "USD 99.99"],
  ["major", "99.990000000000000000", 9_999, "USD 99.99"],
  ["major", '"99.989999999999995"', null, 'USD "99.989999999999995"'],
  ["major", "820982911946154509", null, "USD 820982911946154509"],
  ["minor", "9999", 9_999, "USD 99.99"],
  ["minor", "9999.0000000000000", 9_999, "USD 99.99"],
  ["minor", "820982911946154509", null, "USD 820982911946154509"],
] as const)("an amount in %s units of %s is %p", (unit, amount, amountMinor, shown) => {
  const payments = { events: { paid: places }, unit, decimals: {} } as const;
  const payload = parseJson(`{"booking":"bkg_1","amount":${amount},"in":"usd"}`);
  const read = paymentIn({ id: "bank", payments }, "paid", Object(payload), null);
  expect(read).toMatchObject({ amountMinor, amount: shown });
});
