import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import { AppError } from "../../src/base/errors.ts";
import {
  isCurrency,
  maxMinor,
  minorOf,
  moneyOf,
  moneyText,
  parseMinor,
  unitsOf,
} from "../../src/base/money.ts";
import { forAll } from "../support/runs.ts";

const decimals = { JPY: 0, CLP: 0, USD: 2, EUR: 2, MRU: 2, KWD: 3, TND: 3, CLF: 4, UYW: 4 };
const currency = fc.constantFrom(...Object.entries(decimals));
const minor = fc.integer({ min: 0, max: maxMinor });

/** `value` minor units as a decimal, built from digits without arithmetic. */
function decimalOf(value: number, places: number): string {
  const digits = String(value).padStart(places + 1, "0");
  return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

describe("an amount", () => {
  test.each([
    [12_345, "USD", 123.45],
    [64_300, "JPY", 64_300],
    [32_005, "KWD", 32.005],
    [1, "CLF", 0.0001],
    [0, "EUR", 0],
    [maxMinor, "USD", 9_999_999_999.99],
  ])("of %d minor units of %s equals %d", (value, code, amount) => {
    expect(moneyOf(value, code)).toEqual({ amount, currency: code });
  });

  test("as text parses back to the same minor units", () => {
    forAll(100, [minor, currency], (value, [code, places]) => {
      expect(parseMinor(decimalOf(value, places), code)).toBe(value);
    });
  });

  test("keeps its exact decimal as a JSON number, even for nine seats", () => {
    fc.assert(
      fc.property(
        minor,
        currency,
        fc.integer({ min: 1, max: 9 }),
        (value, [code, places], seats) => {
          const json = JSON.stringify(moneyOf(value * seats, code).amount);
          // JSON omits trailing zeros, and writes tiny amounts with an exponent.
          const fixed = Number(json).toFixed(places);
          expect(fixed).toBe(decimalOf(value * seats, places));
          expect(Number(fixed)).toBe(Number(json));
          expect(minorOf({ amount: Number(json), currency: code })).toBe(value * seats);
        },
      ),
    );
  });

  test.each([
    [49_950, "USD", "USD 499.50"],
    [149_850, "USD", "USD 1,498.50"],
    [64_300, "JPY", "JPY 64,300"],
    [32_005, "KWD", "KWD 32.005"],
    [0, "EUR", "EUR 0.00"],
  ])("of %d minor units of %s is printed as %s", (value, code, read) => {
    expect(moneyText(moneyOf(value, code))).toBe(read);
  });

  test("of an unknown currency throws a RangeError", () => {
    expect(() => moneyText({ amount: 1, currency: "XXX" })).toThrow(RangeError);
    expect(() => moneyOf(1, "XXX")).toThrow(RangeError);
  });
});

describe("a price as text", () => {
  test.each([
    ["123.45", "USD", 12_345],
    ["123.4", "USD", 12_340],
    ["123", "USD", 12_300],
    ["0", "USD", 0],
    ["0.29", "USD", 29],
    ["1.005", "KWD", 1_005],
    ["89500", "JPY", 89_500],
    ["9999999999.99", "USD", maxMinor],
  ])("%s %s parses to %d minor units", (text, code, expected) => {
    expect(parseMinor(text, code)).toBe(expected);
  });

  test.each([
    ["123.456", "USD", "may have at most 2 decimals in USD"],
    ["1.0", "JPY", "may have no decimals in JPY"],
    ["-1", "USD", "must be a decimal number"],
    ["+1", "USD", "must be a decimal number"],
    ["1e3", "USD", "must be a decimal number"],
    ["1,000", "USD", "must be a decimal number"],
    [".5", "USD", "must be a decimal number"],
    ["5.", "USD", "must be a decimal number"],
    ["", "USD", "must be a decimal number"],
    [" 1", "USD", "must be a decimal number"],
    ["1\n", "USD", "must be a decimal number"],
    ["NaN", "USD", "must be a decimal number"],
    ["10000000000", "USD", "must not be more than"],
    ["999999999999999", "CLF", "must not be more than"],
    ["1", "usd", "must be in an ISO 4217 currency"],
    ["1", "XXX", "must be in an ISO 4217 currency"],
  ])("%j %s is rejected", (text, code, reason) => {
    expect(() => parseMinor(text, code)).toThrow(AppError);
    expect(() => parseMinor(text, code)).toThrow(reason);
  });
});

test("any text is an amount in whole cents, or is rejected", () => {
  const digits = fc.stringMatching(/^\d{1,16}(\.\d{1,5})?$/);
  forAll(100, [fc.oneof(digits, fc.string({ unit: "binary" }))], (text) => {
    const [whole = "", part = ""] = text.split(".");
    const cents = /^\d{1,15}(\.\d{1,2})?$/.test(text) ? BigInt(whole + part.padEnd(2, "0")) : null;
    if (cents !== null && cents <= maxMinor) expect(parseMinor(text, "USD")).toBe(Number(cents));
    else expect(() => parseMinor(text, "USD")).toThrow(AppError);
  });
});

describe("an amount of a provider, in major units", () => {
  test("may have zeros beyond the decimals of its currency", () => {
    expect(unitsOf("12.5000", "USD")).toBe(1_250);
    expect(unitsOf("100.00", "JPY")).toBe(100);
  });

  // Reading it whole would take minutes.
  test("is not read if its text is long", () => {
    expect(unitsOf(`1.${"0".repeat(1_000_000)}1`, "USD")).toBeNull();
    expect(unitsOf(`1.${"0".repeat(39)}`, "USD")).toBeNull();
  });
});

describe("a currency", () => {
  test.each(["USD", "EUR", "JPY", "KWD", "CLF", "XOF", "XCG", "ZWG"])("%s is known", (code) => {
    expect(isCurrency(code)).toBe(true);
  });

  test.each(["usd", "XXX", "XAU", "DEM", "US", "USDX", "", "toString"])("%j is unknown", (code) => {
    expect(isCurrency(code)).toBe(false);
  });
});
