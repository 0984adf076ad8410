import { AppError } from "../errors.ts";

/** How long a client may take to send a whole body, in milliseconds. */
const bodyTimeoutMs = 30_000;

/** Bodies up to this size are always read. */
const smallBytes = 64 * 1024;
/** All larger ones under way may have this much together: nobody is known yet while a body comes in. */
const maxBytesUnderWay = 256 * 1024 * 1024;
let bytesUnderWay = 0;

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
 * announced or have come, `unavailable` when too much is under way in large bodies, and `bad-request`
 * when the client breaks off or takes too long.
 */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const announced = request.headers.get("content-length");
  if (announced !== null && Number(announced) > maxBytes) throw tooLarge(maxBytes);
  // Asking for `body` makes a stream of it, which costs a small delivery more than its signature does.
  const stream = announced === null ? request.body : null;
  if (announced === null && stream === null) return new Uint8Array();
  const share = shareOfMemory();
  const deadline = timeLimit(bodyTimeoutMs);
  try {
    if (announced !== null) share.grow(Number(announced));
    // An announced length is kept by the server, so the whole can be read at once.
    const whole = stream === null ? request.bytes() : readChunks(stream, maxBytes, share);
    return await Promise.race([whole, deadline.passed]);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("bad-request", "The body did not arrive whole", { cause: error });
  } finally {
    share.giveBack();
    deadline.cancel();
  }
}

async function readChunks(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  share: Share,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge(maxBytes);
    share.grow(length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

/** What one body takes of the memory that all large ones have together. */
interface Share {
  /** Throws `unavailable` when there is not that much left. */
  grow(bytes: number): void;
  giveBack(): void;
}

function shareOfMemory(): Share {
  let taken = 0;
  return {
    grow(bytes) {
      if (bytes <= smallBytes) return;
      if (bytesUnderWay - taken + bytes > maxBytesUnderWay) {
        const detail = "Too many large bodies are on their way; try again";
        throw new AppError("unavailable", detail, { retryAfterSeconds: 5 });
      }
      bytesUnderWay += bytes - taken;
      taken = bytes;
    },
    giveBack() {
      bytesUnderWay -= taken;
    },
  };
}

function tooLarge(maxBytes: number): AppError {
  return new AppError("body-too-large", `The body may have ${maxBytes} bytes at most`);
}

function timeLimit(limitMs: number): { passed: Promise<never>; cancel(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const passed = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new AppError("bad-request", `The body took longer than ${limitMs / 1_000} s`));
    }, limitMs);
  });
  return { passed, cancel: () => clearTimeout(timer) };
}
