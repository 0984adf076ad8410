import type { Sample } from "../../inbound/providers/provider.ts";

/** The people and things of one request of the demo. */
export interface Cast {
  readonly repository: string;
  readonly change: string;
  /** An employee. */
  readonly employee: string;
  readonly customer: string;
  readonly subject: string;
  readonly task: string;
  /** In cents. */
  readonly amount: number;
  /** The number of the run in CI. */
  readonly run: number;
  readonly isPassed: boolean;
}

/** Returns a repeatable number in [0, 1) for each whole number. */
export const chance = (number: number): number => {
  const mixed = Math.imul(number ^ 0x9e37_79b9, 0x85eb_ca6b);
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
};

const pick = <Item>(items: readonly [Item, ...Item[]], number: number): Item =>
  items[Math.floor(chance(number) * items.length)] ?? items[0];

const firstNames = (
  "Ada Aisha Alan Amara Barbara Carlos Chen Diego Donald Edsger Elif Fatima Grace Hana Ingrid Jonas " +
  "Katherine Kofi Leila Linus Margaret Mateo Mei Nadia Noor Olga Priya Rafael Sofia Tomas Yuki Zoe"
).split(" ");
const lastNames = (
  "Almeida Becker Costa Diallo Eriksen Fischer Garcia Haddad Ito Jansen Kaya Kim Lindqvist Mensah " +
  "Moreau Nakamura Novak Okafor Patel Quispe Rossi Santos Silva Tanaka Weber Yilmaz Zhang"
).split(" ");

/** The name of a person, the same for each whole number. */
export function person(number: number): readonly [first: string, last: string] {
  const first = firstNames[Math.floor(chance(number * 2 + 1) * firstNames.length)] ?? "";
  return [first, lastNames[Math.floor(chance(number * 3 + 2) * lastNames.length)] ?? ""];
}

const repositories = ["web", "booking-api", "payments", "mobile", "search", "seat-map"] as const;
const changes = [
  "Fix cart",
  "Show seat maps on phones",
  "Retry card payments once",
  "Cache fares for a minute",
  "Translate refund e-mails",
  "Upgrade the date picker",
  "Log slow searches",
] as const;
const subjects = [
  "Refund for order 77",
  "Change of name on a ticket",
  "Extra bag to Tokyo",
  "Receipt for my company",
  "Wheelchair at the gate",
  "Seats next to each other",
] as const;
const tasks = [
  "Rotate the signing keys",
  "Check yesterday's refunds",
  "Publish the summer timetable",
  "Call the ground crew in Frankfurt",
  "Review fares to Madrid",
] as const;

/** A cast, the same for each whole number. */
export function castOf(number: number): Cast {
  return {
    repository: pick(repositories, number * 5),
    change: pick(changes, number * 7 + 1),
    employee: firstNames[Math.floor(chance(number * 11) * 8)] ?? "",
    customer: person(number).join(" "),
    subject: pick(subjects, number * 13),
    task: pick(tasks, number * 17),
    amount: 4_900 + 100 * Math.floor(chance(number * 19) * 900),
    run: 163 + number,
    isPassed: chance(number * 23) < 0.8,
  };
}

/** A sample with a cast of its own instead of the one that all samples share. */
export function played(sample: Sample, cast: Cast): Sample {
  const [first = ""] = cast.customer.split(" ");
  const parts: readonly (readonly [RegExp, string])[] = [
    [/\bweb\b/g, cast.repository],
    [/Fix cart/g, cast.change],
    [/Totals were rounded twice\./g, ""],
    [/\bada\b/g, cast.employee.toLowerCase()],
    [/\bAda\b/g, cast.employee],
    [/kim@example\.net/g, `${cast.customer.toLowerCase().replace(" ", ".")}@example.net`],
    [/\bKim\b/g, first],
    [/Refund for order 77|I would like my money back for order 77/g, cast.subject],
    [/Rotate the signing keys/g, cast.task],
    [/\bcus_1\b/g, `cus_${cast.customer.toLowerCase().replace(" ", "")}`],
    [/\b4200\b/g, String(cast.amount)],
    [/\b163\b/g, String(cast.run)],
    [/"conclusion":"failure"/g, `"conclusion":"${cast.isPassed ? "success" : "failure"}"`],
  ];
  return (fresh) => {
    const { headers, body } = sample(fresh);
    const text = parts.reduce((all, [from, to]) => all.replace(from, to), JSON.stringify(body));
    // Guarantee: names and numbers of a JSON object were replaced, none of which has a quote.
    return { headers, body: JSON.parse(text) as typeof body };
  };
}
