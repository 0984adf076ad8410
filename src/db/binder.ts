import { is, Param, Placeholder } from "drizzle-orm";

type Named = Readonly<Record<string, unknown>>;

/**
 * Returns a function that binds the values of a statement, and throws when one is missing. Drizzle checks
 * the type of every parameter on every run, which costs a delivery with its thirty parameters 3 µs. `finish`
 * converts each value for the driver.
 */
export function binder<Bound>(
  params: readonly unknown[],
  finish: (value: unknown) => Bound,
): (values: object) => Bound[] {
  const binds = params.map((param) => bindOne(param));
  return (values) => {
    // Guarantee: any object can be read by name; `named` throws when the value is missing.
    const named = values as Named;
    return binds.map((bind) => finish(bind(named)));
  };
}

/** Returns how a parameter gets its value: by name, by name and encoded for its column, or as a constant. */
function bindOne(param: unknown): (values: Named) => unknown {
  if (is(param, Placeholder)) return named(String(param.name), (value) => value);
  if (is(param, Param) && is(param.value, Placeholder)) {
    const { encoder, value } = param;
    return named(String(value.name), (given) => encoder.mapToDriverValue(given));
  }
  return () => param;
}

function named(name: string, encode: (value: unknown) => unknown): (values: Named) => unknown {
  return (values) => {
    const value = values[name];
    if (value === undefined) throw new Error(`No value for placeholder "${name}"`);
    return encode(value);
  };
}
