import DataLoader from "dataloader";

import type { GraphqlContext } from "./context.ts";

type Load<Key, Value> = (ctx: GraphqlContext, key: Key) => Promise<Value>;

/**
 * Reads values by key, all keys that one request asks for in the same turn of the event loop at once.
 * `read` returns a function from key to value; an `Error` as the value rejects that key alone. Nothing
 * is cached: later fields of a mutation read again.
 */
export function loader<Key, Value>(
  read: (ctx: GraphqlContext, keys: readonly Key[]) => Promise<(key: Key) => Value | Error>,
): Load<Key, Value> {
  const loaders = new WeakMap<GraphqlContext, DataLoader<Key, Value>>();
  return (ctx, key) => {
    let batch = loaders.get(ctx);
    if (batch === undefined) {
      batch = new DataLoader(
        async (keys) => {
          const valueOf = await read(ctx, [...new Set(keys)]);
          return keys.map(valueOf);
        },
        { cache: false },
      );
      loaders.set(ctx, batch);
    }
    return batch.load(key);
  };
}

/** The item of each key; null for a key without one. */
export function one<Key, Item>(
  items: readonly Item[],
  keyOf: (item: Item) => Key,
): (key: Key) => Item | null {
  const found = new Map(items.map((item) => [keyOf(item), item]));
  return (key) => found.get(key) ?? null;
}
