import { Type } from "@sinclair/typebox";

import { AppError } from "../../base/errors.ts";
import { decimalsOf, minorOf, type Money, moneyText } from "../../base/money.ts";
import type { BodyError } from "../../base/validation.ts";

/** A request's limit for the price. The total is quoted as the API shows it. */
export const expectedPriceSchema = Type.Object(
  {
    amount: Type.Number({
      minimum: 0,
      description: "The total for all passengers, in major units of the currency.",
      errorMessage: "A number of 0 or more",
      examples: [999],
    }),
    currency: Type.String({
      pattern: "^[A-Z]{3}$",
      description: "ISO 4217 code.",
      errorMessage: "An ISO 4217 code such as USD",
      examples: ["USD"],
    }),
  },
  {
    $id: "ExpectedPrice",
    description: "The price that was shown. If it is another one now, nothing is booked.",
  },
);

/** Checks the rules that the schema cannot express. The value may break the schema. */
export function expectedPriceErrors(value: unknown, pointer: string): readonly BodyError[] {
  if (typeof value !== "object" || value === null) return [];
  const { amount, currency }: { readonly amount?: unknown; readonly currency?: unknown } = value;
  if (typeof amount !== "number" || typeof currency !== "string") return [];
  const decimals = decimalsOf(currency);
  if (decimals === undefined) {
    return [
      { pointer: `${pointer}/currency`, kind: "rule", detail: "An ISO 4217 code such as USD" },
    ];
  }
  if (minorOf({ amount, currency }) !== null) return [];
  const allowed = decimals === 0 ? "without decimals" : `with at most ${decimals} decimals`;
  const detail = `An amount in ${currency}, ${allowed} and at most 15 digits`;
  return [{ pointer: `${pointer}/amount`, kind: "rule", detail }];
}

/** Throws `price-changed` if a price is expected that is not the current one. */
export function requirePrice(expected: Money | undefined, currentPrice: Money): void {
  if (expected === undefined) return;
  const { amount, currency } = expected;
  if (amount === currentPrice.amount && currency === currentPrice.currency) return;
  const prices = { expectedPrice: { amount, currency }, currentPrice };
  const detail = `The price is ${moneyText(currentPrice)}, not ${moneyText(expected)}. Nothing was booked.`;
  throw new AppError("price-changed", detail, { prices });
}
