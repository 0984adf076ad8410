/** One line of a byte stream: its text, or the error in it. */
export type Line = {
  /** The line number, from 1. Blank lines are skipped but count. */
  readonly line: number;
} & ({ readonly text: string } | { readonly error: string });

const lineFeed = 0x0a;

/**
 * Reads lines that end in LF or CRLF, skips blank ones, and removes a byte order mark. Uses the memory of one
 * chunk and `maxLineBytes`, regardless of the length of the stream or its lines.
 */
export async function* readLines(
  input: ReadableStream<Uint8Array>,
  maxLineBytes: number,
): AsyncGenerator<Line> {
  const buffer = new LineBuffer(maxLineBytes);
  let line = 0;
  const next = (): Line | null => {
    line += 1;
    const taken = buffer.take();
    if ("text" in taken && taken.text.trim() === "") return null;
    return { line, ...taken };
  };

  for await (const chunk of input) {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(lineFeed, start);
      if (end === -1) break;
      buffer.add(chunk.subarray(start, end));
      start = end + 1;
      const found = next();
      if (found !== null) yield found;
    }
    buffer.add(chunk.subarray(start));
  }
  // The last line may lack a line break. If it has one, this reads a blank line.
  const last = next();
  if (last !== null) yield last;
}

/** Collects the bytes of one line. For a line that is too long, counts them only. */
class LineBuffer {
  readonly #bytes: Uint8Array;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  #length = 0;

  constructor(maxBytes: number) {
    this.#bytes = new Uint8Array(maxBytes);
  }

  add(part: Uint8Array): void {
    if (this.#length + part.length <= this.#bytes.length) this.#bytes.set(part, this.#length);
    this.#length += part.length;
  }

  /** Returns the line and empties the buffer. */
  take(): { text: string } | { error: string } {
    const length = this.#length;
    this.#length = 0;
    if (length > this.#bytes.length) {
      return { error: `The line is longer than ${this.#bytes.length} bytes` };
    }
    try {
      // Of a CRLF, the CR is still at the end.
      return { text: this.#decoder.decode(this.#bytes.subarray(0, length)).replace(/\r$/, "") };
    } catch {
      return { error: "The line is not UTF-8 text" };
    }
  }
}
