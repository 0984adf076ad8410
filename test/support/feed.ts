/** One message of an event stream, as received. */
export interface FeedMessage {
  readonly id: string;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** Reads an event stream line by line, as far as the test asks. */
export interface FeedReader {
  /** The next line, without its end; throws when the stream has ended. */
  line(): Promise<string>;
  /** The next message; comments and other fields are passed over. */
  next(): Promise<FeedMessage>;
  /** Reads what is left; true when the stream ends or breaks off. */
  ended(): Promise<true>;
  close(): Promise<void>;
}

export function readFeed(response: Response): FeedReader {
  if (response.status !== 200 || response.body === null) {
    throw new Error(`The feed answered ${response.status}`);
  }
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let lines: string[] = [];
  let rest = "";

  async function line(): Promise<string> {
    for (;;) {
      const [first, ...others] = lines;
      if (first !== undefined) {
        lines = others;
        return first;
      }
      const { value, done } = await reader.read();
      if (done) throw new Error("The stream has ended");
      const parts = `${rest}${decoder.decode(value, { stream: true })}`.split("\n");
      rest = parts.pop() ?? "";
      lines = parts;
    }
  }

  return {
    line,
    async next() {
      const fields = new Map<string, string>();
      for (;;) {
        const text = await line();
        const [, name, value] = /^(\w+): (.*)$/.exec(text) ?? [];
        if (name !== undefined && value !== undefined) fields.set(name, value);
        if (text === "" && fields.has("data")) break;
      }
      const data: unknown = JSON.parse(fields.get("data") ?? "");
      if (typeof data !== "object" || data === null) throw new Error("The data are no object");
      return { id: fields.get("id") ?? "", event: fields.get("event") ?? "", data: { ...data } };
    },
    async ended() {
      try {
        while (!(await reader.read()).done);
      } catch {
        // Broken off: ended too.
      }
      return true;
    },
    async close() {
      try {
        await reader.cancel();
      } catch {
        // Ended already.
      }
    },
  };
}
