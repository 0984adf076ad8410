/** Complete HTTP requests as bytes, prepared before the timing. */
export interface Requests {
  readonly count: number;
  readonly bodyBytes: number;
  request(index: number): Uint8Array;
}

interface RequestParts {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Null for a request without a body. */
  readonly json: string | null;
}

/** The most bytes by which a request may be longer than the first. */
const slack = 256;

/** Stores `count` requests, each made by `make`, in one block of memory. */
export function packRequests(count: number, make: (index: number) => RequestParts): Requests {
  const first = make(0);
  // Hundreds of thousands of separate buffers would cause garbage collection during the timing.
  const roomEach = textOf(first).length + slack;
  const block = Buffer.alloc(count * roomEach);
  const starts = new Uint32Array(count + 1);
  for (let index = 0; index < count; index += 1) {
    const start = starts[index] ?? 0;
    starts[index + 1] = start + block.write(textOf(make(index)), start);
  }
  return {
    count,
    bodyBytes: Buffer.byteLength(first.json ?? ""),
    request: (index) => block.subarray(starts[index], starts[index + 1]),
  };
}

/** A complete HTTP request as text. */
export function textOf({ method, path, headers, json }: RequestParts): string {
  const body = json === null ? {} : { "Content-Type": "application/json" };
  const length = json === null ? {} : { "Content-Length": String(Buffer.byteLength(json)) };
  const lines = Object.entries({ Host: "localhost", Accept: "*/*", ...body, ...length, ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
  return `${method} ${path} HTTP/1.1\r\n${lines}\r\n${json ?? ""}`;
}
