/** Invalid usage, exit code 2. The message is one line that says what to write instead. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

type Env = Readonly<Record<string, string | undefined>>;

const codes = { red: 31, green: 32, yellow: 33, dim: 2 } as const;
export type Paint = (colour: keyof typeof codes, text: string) => string;

/** Colours text for a terminal; returns it unchanged elsewhere and with NO_COLOR (no-color.org). */
export function painter(env: Env): Paint {
  const isPlain = !process.stdout.isTTY || (env["NO_COLOR"] ?? "") !== "" || env["TERM"] === "dumb";
  return (colour, text) => (isPlain ? text : `\u001b[${codes[colour]}m${text}\u001b[0m`);
}

/** Rows as aligned columns, two spaces apart. The last column is not padded. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => Bun.stringWidth(row[column] ?? ""))),
  );
  const padded = (cell: string, column: number) =>
    cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - Bun.stringWidth(cell)));
  return rows.map((row) => row.map(padded).join("  ").trimEnd()).join("\n");
}

/** `1 event`, `2 events`. */
export function counted(count: number, thing: string, things = `${thing}s`): string {
  return `${count} ${count === 1 ? thing : things}`;
}

/** Prints a line on standard error. In a terminal, `console.error` would print it in red. */
export function note(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Prints a line on standard output. False if its reader has gone, as in `skyhook tail | head`. */
export function printLine(line: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const { stdout } = process;
  // The callback gets the error; without a listener, it would end the process.
  if (stdout.listenerCount("error") === 0) stdout.on("error", () => {});
  stdout.write(`${line}\n`, (error) => resolve(!error));
  return promise;
}

/** `14:05:09`, local time. */
export function timeOfDay(at = new Date()): string {
  return at.toTimeString().slice(0, 8);
}
