import fc from "fast-check";

import { AppError } from "../../../src/base/errors.ts";
import { isCurrency, maxMinor, moneyOf, parseMinor } from "../../../src/base/money.ts";

import { target } from "./target.ts";
import { hostileText } from "./text.ts";

const currency = fc.constantFrom("USD", "JPY", "KWD", "CLF", "usd", "XXX", "");
const decimals = new Map([
  ["USD", 2],
  ["JPY", 0],
  ["KWD", 3],
  ["CLF", 4],
]);
const amount = fc.oneof(
  fc.nat(1_000_000).map(String),
  fc
    .tuple(fc.nat(9_999_999_999), fc.stringMatching(/^\d{1,5}$/))
    .map(([whole, part]) => `${whole}.${part}`),
  hostileText,
);

/** Minor units by whole numbers alone; null for what is no amount of a currency. */
function reference(text: string, code: string): bigint | null {
  const places = decimals.get(code);
  if (places === undefined || !/^[0-9]{1,15}(\.[0-9]{1,15})?$/.test(text)) return null;
  const [whole = "", part = ""] = text.split(".");
  const minor = BigInt(whole) * 10n ** BigInt(places) + BigInt(part.padEnd(places, "0") || "0");
  return part.length > places || minor > BigInt(maxMinor) ? null : minor;
}

function ours(text: string, code: string): number | null {
  try {
    return parseMinor(text, code);
  } catch (error) {
    if (error instanceof AppError && error.code === "bad-request") return null;
    throw error;
  }
}

export const money = target({
  name: "money",
  about: "amounts as text against whole-number arithmetic, and through a JSON number and back",
  shortRuns: 500,
  cases: fc.record({ text: amount, code: currency }),
  check({ text, code }) {
    const [found, expected] = [ours(text, code), reference(text, code)];
    if (found === null ? expected !== null : BigInt(found) !== expected) {
      throw new Error(`Ours is ${found}, the other ${expected}`);
    }
    if (found === null || !isCurrency(code)) return;
    const shown = JSON.stringify(moneyOf(found, code).amount);
    if (parseMinor(shown, code) !== found) throw new Error(`${found} shows as ${shown}`);
  },
});
