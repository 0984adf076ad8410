/** One setting: its variable, default, meaning and parser. */
export interface Setting<Value> {
  readonly key: string;
  /** As text, so that it passes the same parser and can be printed. Null: no default; `doc` says what unset means. */
  readonly default: string | null;
  readonly doc: string;
  /** Printed as `(set)` instead of its value. */
  readonly isSecret: boolean;
  /** May also be a file in `SECRETS_DIR`, named like the key in lower-case letters. */
  readonly isFile: boolean;
  /** Throws an `Error` whose message completes "KEY must be …". */
  readonly parse: (text: string) => Value;
}

/** Marked with its default, so that a value without one may be null. */
export const setting = <Value, Default extends string | null>(
  key: string,
  defaultText: Default,
  doc: string,
  parse: (text: string) => Value,
  { isSecret = false, isFile = false } = {},
): Setting<Value> & { readonly default: Default } => ({
  key,
  default: defaultText,
  doc,
  parse,
  isSecret,
  isFile,
});
