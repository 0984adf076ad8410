import { AppError } from "../../base/errors.ts";

import { type Reservation, reservation, smallBytes } from "./body-budget.ts";

/** How long a client may take to send a whole body, in milliseconds. */
const wholeTimeoutMs = 30_000;
/** How long a client that sends a large or chunked body may pause, in milliseconds. */
const pauseTimeoutMs = 10_000;
/** What the buffer of a large or chunked body begins with. */
const firstBufferBytes = 16 * 1024;

/** Throws `unsupported-media-type` when a body that is to be JSON is packed. */
export function requireNoCoding(headers: Headers): void {
  if ((headers.get("content-encoding") ?? "identity").toLowerCase() === "identity") return;
  const detail = "Send the body as it is, without Content-Encoding";
  throw new AppError("unsupported-media-type", detail, {
    accept: "application/json",
    acceptCoding: "identity",
  });
}

/**
 * The exact bytes of a request's body. Throws `body-too-large` as soon as more than `maxBytes` are
 * announced or have arrived, `unavailable` when too much is being received in large bodies (by all, or
 * by the client of this `address`), and `bad-request` when Content-Length is no plain number or the
 * client breaks off or takes too long. Without an address the client shares with all such requests.
 */
export async function readBytes(
  request: Request,
  maxBytes: number,
  address = "",
): Promise<Uint8Array> {
  const announced = announcedLength(request.headers);
  if (announced !== null && announced > maxBytes) throw tooLarge(maxBytes);
  // Asking for `body` makes a stream of it, which costs a small delivery more than its signature does.
  if (announced !== null && announced <= smallBytes) {
    return arrived(request.bytes(), wholeTimeoutMs);
  }
  if (request.body === null) return new Uint8Array();
  const memory = reservation(address);
  const reader = request.body.getReader();
  try {
    return await readStream(reader, { announced, maxBytes, memory });
  } finally {
    memory.release();
    // The rest of a body that is refused is left unread; a broken one cannot be cancelled.
    reader.cancel().catch(() => null);
  }
}

/**
 * What Content-Length says, or null without one. The server joins equal lengths with a comma, as
 * RFC 9110 section 8.6 allows, and lets leading zeros pass.
 */
function announcedLength(headers: Headers): number | null {
  const text = headers.get("content-length");
  if (text === null) return null;
  const length = /^(?:0|[1-9][0-9]*)$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(length)) return length;
  throw new AppError("bad-request", "Content-Length must be one decimal number, sent once");
}

interface Limits {
  readonly announced: number | null;
  readonly maxBytes: number;
  readonly memory: Reservation;
}

/** Copies what arrives into one buffer that grows, so that memory does not depend on the chunks. */
async function readStream(
  reader: Pick<ReadableStreamDefaultReader<Uint8Array>, "read">,
  { announced, maxBytes, memory }: Limits,
): Promise<Uint8Array> {
  const endsAtMs = performance.now() + wholeTimeoutMs;
  let buffer = new ArrayBuffer(0);
  let length = 0;
  for (;;) {
    const leftMs = endsAtMs - performance.now();
    const { done, value } = await arrived(reader.read(), Math.min(leftMs, pauseTimeoutMs));
    if (done) break;
    const end = length + value.length;
    if (end > maxBytes) throw tooLarge(maxBytes);
    if (end > buffer.byteLength) {
      const most = announced ?? maxBytes;
      const size = Math.min(most, Math.max(end, 2 * buffer.byteLength, firstBufferBytes));
      memory.grow(size);
      // The old memory is free at once, without waiting for the garbage collector.
      buffer = buffer.transfer(size);
    }
    new Uint8Array(buffer, length).set(value);
    length = end;
    // Until the next read the server gathers what comes, and stops reading the socket when it has
    // enough. Reading at once would take each chunk of the wire as an object, and let nobody else in.
    await nextTurn();
  }
  if (announced !== null && length !== announced) throw notWhole();
  return new Uint8Array(buffer.byteLength === length ? buffer : buffer.transfer(length));
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/** What arrives of a body in time. Throws `bad-request` when it does not, or the client breaks off. */
async function arrived<Part>(part: Promise<Part>, limitMs: number): Promise<Part> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(tooSlow()), limitMs);
  try {
    return await Promise.race([part, late.promise]);
  } catch (error) {
    throw error instanceof AppError ? error : notWhole(error);
  } finally {
    clearTimeout(timer);
  }
}

function tooLarge(maxBytes: number): AppError {
  return new AppError("body-too-large", `The body may have ${maxBytes} bytes at most`);
}

function tooSlow(): AppError {
  const [whole, pause] = [wholeTimeoutMs / 1_000, pauseTimeoutMs / 1_000];
  const detail = `The body took longer than ${whole} s, or nothing of it came for ${pause} s`;
  return new AppError("bad-request", detail);
}

function notWhole(cause?: unknown): AppError {
  return new AppError("bad-request", "The body did not arrive whole", { cause });
}
