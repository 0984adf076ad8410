export interface TarEntry {
  /** Relative, with slashes, at most 100 bytes. */
  readonly path: string;
  readonly mode: 0o644 | 0o755;
  readonly bytes: Uint8Array;
}

const blockBytes = 512;
const maxPathBytes = 100;
/** 1985-10-26, as npm packs: archives of the format ZIP cannot have a time before 1980. */
const modifiedAt = 499_162_500;

/**
 * Compresses files as a `.tar.gz` (POSIX.1-1988 `ustar`, RFC 1952). The result depends on the entries alone: they are
 * sorted, and belong to user 0, at one time. Throws on a path that is too long.
 */
export function tarball(entries: readonly TarEntry[]): Uint8Array<ArrayBuffer> {
  const sorted = entries.toSorted((a, b) =>
    Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)),
  );
  const blocks = sorted.flatMap(({ path, mode, bytes }) => [
    header(path, mode, bytes.length),
    bytes,
    new Uint8Array(-bytes.length & (blockBytes - 1)),
  ]);
  const end = new Uint8Array(2 * blockBytes);
  const packed = Bun.gzipSync(Buffer.concat([...blocks, end]), { library: "libdeflate", level: 9 });
  // The operating system that compressed: unknown.
  packed[9] = 255;
  return packed;
}

function header(path: string, mode: number, size: number): Buffer {
  if (Buffer.byteLength(path) > maxPathBytes) throw new Error(`${path} is too long for an archive`);
  const block = Buffer.alloc(blockBytes);
  const octal = (value: number, offset: number, digits: number) =>
    block.write(value.toString(8).padStart(digits, "0"), offset);
  block.write(path);
  octal(mode, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(size, 124, 11);
  octal(modifiedAt, 136, 11);
  block.write("        0", 148);
  block.write("ustar\x0000", 257, "latin1");
  // The sum counts its own field as spaces.
  const sum = block.reduce((total, byte) => total + byte, 0) - "0".charCodeAt(0);
  octal(sum + "0".charCodeAt(0), 148, 6);
  block.writeUInt8(0, 154);
  return block;
}
