/** Makes a value on first use and keeps it, so that startup does not wait for values it may never need. */
export function lazy<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
