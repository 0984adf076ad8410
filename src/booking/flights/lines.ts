/** One line of a stream of bytes: its text, or why it has none. */
export type Line = {
  /** Counted from 1; blank lines count, though they are left out. */
  readonly line: number;
  /** Bytes of the stream up to the end of this line, its line break included. */
  readonly bytesRead: number;
} & ({ readonly text: string } | { readonly fault: string });

const lineFeed = 0x0a;

/**
 * Reads the lines that are not blank, whether they end in LF or CRLF, in the memory of one chunk and
 * one line, however long the stream or a line of it is. A UTF-8 mark (BOM) is left out.
 */
export async function* readLines(
  input: ReadableStream<Uint8Array>,
  maxLineBytes: number,
): AsyncGenerator<Line> {
  const buffer = new LineBuffer(maxLineBytes);
  let line = 0;
  let bytesRead = 0;
  const next = (): Line | null => {
    line += 1;
    const taken = buffer.take();
    if ("text" in taken && taken.text.trim() === "") return null;
    return { line, bytesRead, ...taken };
  };

  for await (const chunk of input) {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(lineFeed, start);
      if (end === -1) break;
      buffer.add(chunk.subarray(start, end));
      bytesRead += end + 1 - start;
      start = end + 1;
      const found = next();
      if (found !== null) yield found;
    }
    buffer.add(chunk.subarray(start));
    bytesRead += chunk.length - start;
  }
  // The last line may do without a line break; after one, this is a blank line.
  const last = next();
  if (last !== null) yield last;
}

/** The bytes of one line as they come. Of a line that is too long, only the length is kept. */
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

  /** What there is, which is then forgotten. */
  take(): { text: string } | { fault: string } {
    const length = this.#length;
    this.#length = 0;
    if (length > this.#bytes.length) {
      return { fault: `The line is longer than ${this.#bytes.length} bytes` };
    }
    try {
      // A line break of CRLF leaves its CR at the end.
      return { text: this.#decoder.decode(this.#bytes.subarray(0, length)).replace(/\r$/, "") };
    } catch {
      return { fault: "The line is not UTF-8 text" };
    }
  }
}
