import fc from "fast-check";

/** Whole numbers of 16 to 25 digits. */
export const longInteger = fc
  .tuple(fc.constantFrom("", "-"), fc.bigInt({ min: 10n ** 15n, max: 10n ** 25n - 1n }))
  .map(([sign, number]) => `${sign}${number}`);

/** Decimals of 25 digits, with the point anywhere. */
export const longDecimal = fc
  .tuple(fc.bigInt({ min: 10n ** 24n, max: 10n ** 25n - 1n }), fc.integer({ min: 0, max: 24 }))
  .map(([number, at]) => `${String(number).slice(0, at) || "0"}.${String(number).slice(at)}`);

export const longNumber = fc.oneof(longInteger, longDecimal);
