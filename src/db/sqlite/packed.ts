import { zstdDecompressSync } from "node:zlib";

import { DamagedValue } from "./errors.ts";

/** Smaller values hardly get smaller. */
const minPackedBytes = 256;
/** Larger values are stored as they are: to decompress this much takes the event loop less than a millisecond. */
const maxPackedBytes = 256 * 2 ** 10;
/**
 * A packed value begins with a skippable frame (RFC 8878, section 3.1.2) of four bytes: the length of what follows once it
 * is decompressed, or zero if it is not compressed. So a compressed value is valid Zstandard as it is stored.
 */
const mark = Buffer.from("502a4d1804000000", "hex");
const headBytes = mark.length + 4;

/** A value that is packed when it is written, so that the storage thread does it and not the event loop. */
export class Packable extends Uint8Array<ArrayBufferLike> {}

/** The bytes to store for a value: compressed if that saves space. */
export function pack(value: Uint8Array): Uint8Array {
  // So that what a client sends is never taken for packed.
  if (isPacked(value)) return withHead(0, value);
  if (value.length < minPackedBytes || value.length > maxPackedBytes) return value;
  const compressed = Bun.zstdCompressSync(value, { level: 1 });
  const isSmaller = headBytes + compressed.length < value.length;
  return isSmaller ? withHead(value.length, compressed) : value;
}

/** The value of stored bytes. Throws if they are not what `pack` returns, such as a small value that becomes large. */
export function unpack(stored: Uint8Array): Uint8Array {
  if (!isPacked(stored)) return stored;
  const length = Buffer.from(stored.subarray(mark.length, headBytes)).readUInt32LE();
  const rest = stored.subarray(headBytes);
  return length === 0 ? rest : decompressed(rest, length);
}

function decompressed(compressed: Uint8Array, length: number): Uint8Array {
  try {
    const value = zstdDecompressSync(compressed, { maxOutputLength: maxPackedBytes });
    if (value.length === length) return value;
  } catch (error) {
    throw new DamagedValue("A stored value cannot be decompressed", { cause: error });
  }
  throw new DamagedValue("A stored value is incomplete");
}

function withHead(length: number, rest: Uint8Array): Uint8Array {
  const head = Buffer.alloc(headBytes);
  mark.copy(head);
  head.writeUInt32LE(length, mark.length);
  return Buffer.concat([head, rest]);
}

function isPacked(bytes: Uint8Array): boolean {
  return bytes.length >= headBytes && mark.every((byte, index) => bytes[index] === byte);
}
