/** Invalid settings or secrets. Each message is one line that names the setting and says what to write. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly messages: readonly string[];

  constructor(...messages: readonly string[]) {
    super(messages.join("\n"));
    this.messages = messages;
  }
}

/** Calls all functions and returns their values. Throws one `ConfigError` with the messages of all that failed. */
export function collectErrors<const Reads extends readonly (() => unknown)[]>(
  reads: Reads,
): { readonly [Index in keyof Reads]: ReturnType<Reads[Index]> } {
  const values: unknown[] = [];
  const messages = new Set<string>();
  for (const read of reads) {
    try {
      values.push(read());
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      for (const message of error.messages) messages.add(message);
    }
  }
  if (messages.size > 0) throw new ConfigError(...messages);
  // Guarantee: no function threw, so each has added its value, in order.
  return values as { readonly [Index in keyof Reads]: ReturnType<Reads[Index]> };
}
