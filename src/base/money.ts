import { AppError } from "./errors.ts";

/** An amount as the world sees it: a JSON number in major units, and an ISO 4217 code. */
export interface Money {
  readonly amount: number;
  readonly currency: string;
}

/**
 * The most that one price may be, in minor units. Nine of them still have 13 digits, and every
 * decimal of up to 15 digits survives the way through a JSON number.
 */
export const maxMinor = 999_999_999_999;

/**
 * Decimals of every currency of ISO 4217, list one, as it stood in 2026. Units that nobody pays in
 * are left out: metals, test codes, bond market units and funds, but for CLF and UYW, which prices
 * are written in. A code that retires stays: flights may be stored in it.
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

/** Whether `code`, in upper case, is a currency. */
export function isCurrency(code: string): boolean {
  return decimalsByCode.has(code);
}

/**
 * Minor units (cents, yen, fils) as the world sees them: 12345 USD is 123.45. One correctly rounded
 * division gives the double nearest to the decimal, and that is printed as the decimal itself.
 */
export function moneyOf(minor: number, currency: string): Money {
  const decimals = decimalsByCode.get(currency);
  // Only checked currencies are stored, so this is a fault of ours and no `AppError`.
  if (decimals === undefined) throw new RangeError(`No such currency: ${currency}`);
  return { amount: minor / 10 ** decimals, currency };
}

/** An amount for people to read, with all of its currency's decimals: `USD 1,498.50`. */
export function moneyText({ amount, currency }: Money): string {
  const digits = decimalsByCode.get(currency);
  if (digits === undefined) throw new RangeError(`No such currency: ${currency}`);
  return `${currency} ${formatOf(digits).format(amount)}`;
}

const formats = new Map<number, Intl.NumberFormat>();

/** Made once for each number of decimals: making one costs more than a booking should wait for. */
function formatOf(digits: number): Intl.NumberFormat {
  const known = formats.get(digits);
  if (known !== undefined) return known;
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const made = new Intl.NumberFormat("en-US", options);
  formats.set(digits, made);
  return made;
}

/**
 * A decimal in major units as minor units: "123.45" USD is 12345. Exact, since it never becomes a
 * fraction. Throws `bad-request` for anything but digits with one optional point, for more decimals
 * than the currency has, above `maxMinor`, and for a code that is no currency.
 */
export function parseMinor(text: string, currency: string): number {
  const decimals = decimalsByCode.get(currency);
  if (decimals === undefined) throw refusal("must be in a currency of ISO 4217, as USD");
  const [, whole, fraction = ""] = /^(\d{1,15})(?:\.(\d{1,15}))?$/.exec(text) ?? [];
  if (whole === undefined) throw refusal("must be a decimal number of 0 or more, as 123.45");
  if (fraction.length > decimals) {
    const allowed = decimals === 0 ? "no decimals" : `at most ${decimals} decimals`;
    throw refusal(`may have ${allowed} in ${currency}`);
  }
  // At most 19 digits: what a double cannot hold exactly is far above the bound in any case.
  const minor = Number(whole + fraction.padEnd(decimals, "0"));
  if (minor > maxMinor) throw refusal(`must not be more than ${maxMinor} minor units`);
  return minor;
}

function refusal(detail: string): AppError {
  return new AppError("bad-request", detail);
}
