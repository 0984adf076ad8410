/** Makes a thing when it is first asked for, and keeps it: a start does not wait for what it may never need. */
export function lazy<Thing>(make: () => Thing): () => Thing {
  let made: { readonly thing: Thing } | undefined;
  return () => (made ??= { thing: make() }).thing;
}
