interface Entry<Value> {
  readonly value: Value;
  readonly bytes: number;
}

/**
 * A cache of at most `maxBytes` of memory, by the caller's estimate of each value. Drops the least
 * recently used values first. A value larger than `maxBytes` is not stored.
 */
export class ByteCache<Key, Value> {
  readonly #entries = new Map<Key, Entry<Value>>();
  #bytes = 0;

  constructor(private readonly maxBytes: number) {}

  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    // A Map keeps insertion order: reinserting makes the entry the most recently used.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: Key, value: Value, bytes: number): void {
    this.#delete(key);
    if (bytes > this.maxBytes) return;
    this.#entries.set(key, { value, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.maxBytes) return;
      this.#delete(oldest);
    }
  }

  #delete(key: Key): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }
}
