/** What is kept for a key, and the memory that it takes. */
interface Entry<Value> {
  readonly value: Value;
  readonly bytes: number;
}

/**
 * Remembers values in at most `maxBytes` of memory, by the caller's estimate of each. The least recently
 * used are forgotten first; a value that alone exceeds the bound is not kept.
 */
export class ByteCache<Key, Value> {
  readonly #entries = new Map<Key, Entry<Value>>();
  #bytes = 0;

  constructor(private readonly maxBytes: number) {}

  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    // A map lists its keys as they were added: the last is the most recently used.
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
