/**
 * The example of a value with this schema: its own, or one made of the examples of its parts. Of an object it has what is
 * required; an object that needs something else has its own.
 */
export function exampleOf(schema: unknown): unknown {
  const {
    examples,
    const: only,
    enum: words,
    anyOf,
    items,
    properties,
    required,
  }: Keywords = Object(schema);
  const [first] = examples ?? words ?? [];
  if (first !== undefined) return first;
  if (only !== undefined) return only;
  if (anyOf !== undefined) return exampleOf(anyOf[0]);
  if (items !== undefined) return [exampleOf(items)];
  const names = required ?? [];
  return Object.fromEntries(names.map((name) => [name, exampleOf(properties?.[name])]));
}

/** Those of JSON Schema that an example follows from. */
interface Keywords {
  readonly examples?: readonly unknown[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly unknown[];
  readonly items?: unknown;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

/** The day from which the days in our examples are counted. */
const exampleDay = Temporal.PlainDate.from("2026-11-22");

/** Moves the days in the examples of a document, so that a flight of them departs after `today`, and is on sale. */
export function examplesAsOf(today: Temporal.PlainDate, document: string): string {
  const distance = exampleDay.until(today);
  return document.replaceAll(/\b2026-1[12]-\d\d/g, (day) =>
    Temporal.PlainDate.from(day).add(distance).toString(),
  );
}
