import { AppError } from "../base/errors.ts";
import { withTimeout } from "../base/in-time.ts";
import { nextTurn, ownTurns } from "../base/own-turn.ts";

import { type Reservation, reservation, smallBytes } from "./body-budget.ts";

/** The time limit for receiving a whole body. */
const wholeTimeoutMs = 30_000;
/** The longest pause allowed while a large or chunked body arrives. */
const pauseTimeoutMs = 10_000;
/** The initial size of the buffer for a large or chunked body. */
const firstBufferBytes = 16 * 1024;

/** Throws `unsupported-media-type` if the body of a JSON request has a content coding. */
export function requireUncompressed(headers: Headers): void {
  if ((headers.get("content-encoding") ?? "identity").toLowerCase() === "identity") return;
  const detail = "Content-Encoding is not supported. Send the body uncompressed.";
  throw new AppError("unsupported-media-type", detail, {
    accept: "application/json",
    acceptCoding: "identity",
  });
}

/**
 * Reads the exact bytes of a request body: at once if it is small and has arrived. Throws `body-too-large` as soon as
 * Content-Length or the bytes received exceed `maxBytes`; `unavailable` if large bodies exceed the memory limit of this
 * client or of all clients; `bad-request` if Content-Length is invalid, or if the client disconnects or is too slow.
 * `address` is the client's address.
 */
export function readBytes(
  request: Request,
  maxBytes: number,
  address: string,
): Uint8Array | Promise<Uint8Array> {
  const contentLength = contentLengthOf(request.headers);
  if (contentLength !== null && contentLength > maxBytes) throw bodyTooLarge(maxBytes);
  if (contentLength === null || contentLength > smallBytes) {
    return readLarge(request, address, { contentLength, maxBytes });
  }
  // Reading `request.body` creates a stream, which costs a small webhook more than its signature check.
  const body = request.bytes();
  const bytes = Bun.peek(body);
  if (!(bytes instanceof Uint8Array)) return accepted(request, inTime(body, wholeTimeoutMs));
  if (request.signal.aborted) throw incompleteBody();
  return bytes;
}

async function readLarge(
  request: Request,
  address: string,
  limits: Omit<Limits, "memory">,
): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array();
  const memory = reservation(address);
  const reader = request.body.getReader();
  try {
    return await accepted(request, readStream(reader, { ...limits, memory }));
  } finally {
    memory.release();
    // Leaves the rest of a rejected body unread. Cancelling rejects if the connection is broken.
    reader.cancel().catch(() => null);
  }
}

/**
 * Throws `bad-request` if Bun answers 400 itself, because of a trailer or of bytes after the body. It passes on the whole
 * body first, and aborts the request later in the same turn.
 */
async function accepted({ signal }: Request, body: Promise<Uint8Array>): Promise<Uint8Array> {
  const bytes = await body;
  await nextTurn();
  if (signal.aborted) throw incompleteBody();
  return bytes;
}

/**
 * Parses Content-Length; null if it is missing. The check is strict, because Bun joins repeated equal
 * values with a comma (RFC 9110 section 8.6) and accepts leading zeros.
 */
function contentLengthOf(headers: Headers): number | null {
  const text = headers.get("content-length");
  if (text === null) return null;
  const length = /^(?:0|[1-9][0-9]*)$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(length)) return length;
  throw new AppError("bad-request", "Content-Length must be a single decimal number");
}

/** The turn in which a large chunk is copied. */
const copyTurn = ownTurns();

interface Limits {
  readonly contentLength: number | null;
  readonly maxBytes: number;
  readonly memory: Reservation;
}

/** Copies the chunks into one growing buffer, so that memory use does not depend on the size of the chunks. */
async function readStream(
  reader: Pick<ReadableStreamDefaultReader<Uint8Array>, "read">,
  { contentLength, maxBytes, memory }: Limits,
): Promise<Uint8Array> {
  const endsAtMs = performance.now() + wholeTimeoutMs;
  let buffer = new ArrayBuffer(0);
  let length = 0;
  for (;;) {
    const leftMs = endsAtMs - performance.now();
    const { done, value } = await inTime(reader.read(), Math.min(leftMs, pauseTimeoutMs));
    if (done) break;
    const end = length + value.length;
    if (end > maxBytes) throw bodyTooLarge(maxBytes);
    // A burst of large bodies arrives in one turn. Copying all of them in it would block other requests.
    if (value.length > smallBytes) await copyTurn();
    if (end > buffer.byteLength) {
      const most = contentLength ?? maxBytes;
      const size = Math.min(most, Math.max(end, 2 * buffer.byteLength, firstBufferBytes));
      memory.grow(size);
      // `transfer` frees the old memory at once, without waiting for the garbage collector.
      buffer = buffer.transfer(size);
    }
    new Uint8Array(buffer, length).set(value);
    length = end;
    // Between reads, Bun merges what arrives and stops reading the socket when its buffer is full. Reading
    // again at once would allocate an object for each chunk on the wire and block other requests.
    await nextTurn();
  }
  if (contentLength !== null && length !== contentLength) throw incompleteBody();
  return new Uint8Array(buffer.byteLength === length ? buffer : buffer.transfer(length));
}

/** Awaits a part of a body. Throws `bad-request` after `limitMs` or if the client disconnects. */
async function inTime<Part>(part: Promise<Part>, limitMs: number): Promise<Part> {
  try {
    return await withTimeout(part, limitMs, () => {
      throw bodyTooSlow();
    });
  } catch (error) {
    throw error instanceof AppError ? error : incompleteBody(error);
  }
}

function bodyTooLarge(maxBytes: number): AppError {
  return new AppError("body-too-large", `The body is larger than the limit of ${maxBytes} bytes`);
}

function bodyTooSlow(): AppError {
  const [whole, pause] = [wholeTimeoutMs / 1_000, pauseTimeoutMs / 1_000];
  const detail = `The body took longer than ${whole} s, or paused for more than ${pause} s. Send it faster.`;
  return new AppError("bad-request", detail);
}

function incompleteBody(cause?: unknown): AppError {
  return new AppError("bad-request", "The body is incomplete. Send the whole request again.", {
    cause,
  });
}
