import { badRequest } from "./errors.ts";

/** An amount as the API shows it: a JSON number in major units, and an ISO 4217 code. */
export interface Money {
  readonly amount: number;
  readonly currency: string;
}

/**
 * The highest price of one seat, in minor units. Nine seats at this price still have 13 digits, and a double
 * keeps every decimal of up to 15 digits exactly.
 */
export const maxMinor = 999_999_999_999;

/**
 * The decimals of each currency in ISO 4217, list one, as of 2026. Excluded are units that are no means of
 * payment: metals, test codes, bond market units and funds. CLF and UYW are included, because prices are
 * quoted in them. Keep codes that ISO withdraws: stored flights may use them.
 */
const codesByDecimals: readonly (readonly [number, string])[] = [
  [0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"],
  [
    2,
    `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF
     CNY COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL
     HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT
     MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB
     SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH
     USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG`,
  ],
  [3, "BHD IQD JOD KWD LYD OMR TND"],
  [4, "CLF UYW"],
];

const decimalsByCode: ReadonlyMap<string, number> = new Map(
  codesByDecimals.flatMap(([decimals, codes]) =>
    codes.split(/\s+/).map((code) => [code, decimals] as const),
  ),
);

/** Whether `code` is a currency. Codes are upper case. */
export function isCurrency(code: string): boolean {
  return decimalsByCode.has(code);
}

/** The decimals of a currency; undefined if `code` is none. */
export function decimalsOf(code: string): number | undefined {
  return decimalsByCode.get(code);
}

/** A double keeps every decimal of up to 15 digits exactly. */
const maxExactMinor = 999_999_999_999_999;

/**
 * Converts an amount with this number of decimals, by default the currency's own, into minor units. Null if it
 * is not a whole number of them, or has more than 15 digits.
 */
export function toMinor(
  units: number,
  decimals: number | undefined,
  currency: string,
): number | null {
  const own = decimalsByCode.get(currency);
  if (own === undefined) return null;
  const power = own - (decimals ?? own);
  const minor = power < 0 ? units / 10 ** -power : units * 10 ** power;
  return Number.isSafeInteger(minor) && minor <= maxExactMinor ? minor : null;
}

/** The longest text that is read as an amount: 15 digits and 15 decimals, the point, and some zeros. */
const maxAmountLength = 40;

/** The minor units of a decimal in major units, as `parseMinor`; null if it is not an amount of the currency. */
export function unitsOf(text: string, currency: string): number | null {
  // Removing zeros takes quadratic time in the length.
  if (text.length > maxAmountLength) return null;
  // Zeros at the end add no precision: `100.00` yen is 100.
  const decimal = text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  try {
    return parseMinor(decimal, currency);
  } catch {
    return null;
  }
}

/**
 * Converts minor units (cents, yen, fils) to major units: 12345 USD is 123.45. A single, correctly rounded
 * division returns the double nearest to the decimal, which JSON prints as that decimal.
 */
export function moneyOf(minor: number, currency: string): Money {
  const decimals = decimalsByCode.get(currency);
  // Currencies are checked before they are stored, so this is a bug and no `AppError`.
  if (decimals === undefined) throw new RangeError(`Unknown currency: ${currency}`);
  return { amount: minor / 10 ** decimals, currency };
}

/**
 * The inverse of `moneyOf`. Null if no whole number of minor units is shown as this amount, such as 1.234 USD, or
 * for an unknown currency.
 */
export function minorOf({ amount, currency }: Money): number | null {
  const decimals = decimalsByCode.get(currency);
  if (decimals === undefined) return null;
  const minor = Math.round(amount * 10 ** decimals);
  const isExact =
    minor >= 0 && minor <= maxExactMinor && moneyOf(minor, currency).amount === amount;
  return isExact ? minor : null;
}

/** Formats an amount for people, with all decimals of its currency: `USD 1,498.50`. */
export function moneyText({ amount, currency }: Money): string {
  const digits = decimalsByCode.get(currency);
  if (digits === undefined) throw new RangeError(`Unknown currency: ${currency}`);
  return `${currency} ${formatOf(digits).format(amount)}`;
}

/** The decimals of currencies that a service counts otherwise than ISO 4217 does. `*`: of all others. */
export type ServiceDecimals = Readonly<Record<string, number>>;

/** The decimals with which a service counts a currency; undefined if neither it nor ISO 4217 knows them. */
export function decimalsAt(service: ServiceDecimals, currency: string): number | undefined {
  return service[currency] ?? service["*"] ?? decimalsByCode.get(currency);
}

/** Formats a service's amount. An amount in a currency whose decimals are unknown is shown as it was sent. */
export function unitsText(units: number, currency: string, service: ServiceDecimals): string {
  const decimals = decimalsAt(service, currency);
  if (decimals === undefined) return `${currency} ${units}`;
  return `${currency} ${formatOf(decimals).format(units / 10 ** decimals)}`;
}

const formats = new Map<number, Intl.NumberFormat>();

/** Cached by number of decimals: `Intl.NumberFormat` is too slow to construct for each booking. */
function formatOf(digits: number): Intl.NumberFormat {
  const known = formats.get(digits);
  if (known !== undefined) return known;
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const made = new Intl.NumberFormat("en-US", options);
  formats.set(digits, made);
  return made;
}

/**
 * Parses a decimal in major units into minor units: "123.45" USD is 12345. The result is exact, because no
 * step uses fractions. Throws `bad-request` for anything but digits with one optional point, for more
 * decimals than the currency has, for amounts above `maxMinor`, and for an unknown currency.
 */
export function parseMinor(text: string, currency: string): number {
  const decimals = decimalsByCode.get(currency);
  if (decimals === undefined) throw badRequest("must be in an ISO 4217 currency such as USD");
  const [, whole, fraction = ""] = /^(\d{1,15})(?:\.(\d{1,15}))?$/.exec(text) ?? [];
  if (whole === undefined)
    throw badRequest("must be a decimal number of 0 or more, such as 123.45");
  if (fraction.length > decimals) {
    const allowed = decimals === 0 ? "no decimals" : `at most ${decimals} decimals`;
    throw badRequest(`may have ${allowed} in ${currency}`);
  }
  // At most 19 digits. Numbers too large for a double to hold exactly are far above the limit.
  const minor = Number(whole + fraction.padEnd(decimals, "0"));
  if (minor > maxMinor) throw badRequest(`must not be more than ${maxMinor} minor units`);
  return minor;
}
