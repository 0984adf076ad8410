// Code signatures of programs for macOS. The formats: Apple's `mach-o/loader.h` (64 bits, little-endian) for the
// program, and `cs_blobs.h` of its kernel (big-endian) for the signature, which has a SHA-256 hash of each page.

const machHeaderBytes = 32;
const machMagic = 0xfeedfacf;
const segmentCommand = 0x19;
const signatureCommand = 0x1d;

const superBlobMagic = 0xfade0cc0;
const codeDirectoryMagic = 0xfade0c02;
/** The version of code directories that has the executable segment, and its header's length. */
const codeDirectoryVersion = 0x20400;
const codeDirectoryBytes = 88;
/** `CS_ADHOC`, signed without a certificate, and `CS_LINKER_SIGNED`. */
const adHocFlags = 0x20002;
const sha256Type = 2;
const hashBytes = 32;
const pageBits = 12;
const pageBytes = 1 << pageBits;
/** `CS_EXECSEG_MAIN_BINARY`. */
const mainProgram = 1n;

interface CodeSignature {
  readonly identifier: string;
  readonly flags: number;
  /** The bytes from the start of the program that the signature covers. */
  readonly coveredBytes: number;
  /** The bytes in front of the signature: all that it must cover. */
  readonly programBytes: number;
  readonly pages: number;
  /** The pages whose hash is not that of their bytes. macOS ends a program that reads one. */
  readonly wrongPages: readonly number[];
}

/** The signature of a program for macOS. Throws if it has none, or if it is not SHA-256 over pages of 4 KiB. */
export function codeSignature(program: Uint8Array): CodeSignature {
  const { signatureAt } = layoutOf(program);
  const blob = viewOf(program.subarray(signatureAt));
  if (blob.getUint32(0) !== superBlobMagic) throw new Error("The program has no signature");
  const directoryAt = signatureAt + blob.getUint32(16);
  const directory = viewOf(program.subarray(directoryAt));
  if (directory.getUint32(0) !== codeDirectoryMagic) throw new Error("No code directory");
  const [hashSize, hashType, , bits] = program.subarray(directoryAt + 36, directoryAt + 40);
  if (hashSize !== hashBytes || hashType !== sha256Type || bits !== pageBits) {
    throw new Error("The signature has other hashes than SHA-256, or other pages than 4 KiB");
  }
  const identifier = program.subarray(directoryAt + directory.getUint32(20));
  const pages = directory.getUint32(28);
  const coveredBytes = directory.getUint32(32);
  const hashesAt = directoryAt + directory.getUint32(16);
  const actual = pageHashes(program.subarray(0, coveredBytes));
  const isWrong = (page: number) => {
    const at = page * hashBytes;
    const stored = program.subarray(hashesAt + at, hashesAt + at + hashBytes);
    return !Buffer.from(actual.subarray(at, at + hashBytes)).equals(stored);
  };
  return {
    identifier: Buffer.from(identifier.subarray(0, identifier.indexOf(0))).toString(),
    flags: directory.getUint32(12),
    coveredBytes,
    programBytes: signatureAt,
    pages,
    wrongPages: Array.from({ length: pages }, (_, page) => page).filter(isWrong),
  };
}

/** A copy of the program with an ad-hoc signature, as the linker makes it, in place of its own. */
export function signedAdHoc(program: Uint8Array, identifier: string): Uint8Array {
  const { signatureAt, signatureCommandAt, linkeditAt, textBytes } = layoutOf(program);
  const name = new TextEncoder().encode(`${identifier}\0`);
  const superBlobBytes = 20;
  const hashOffset = codeDirectoryBytes + name.length;
  const pages = Math.ceil(signatureAt / pageBytes);
  const length = superBlobBytes + hashOffset + pages * hashBytes;
  const signed = new Uint8Array(signatureAt + length);
  signed.set(program.subarray(0, signatureAt));

  // The load commands name the length, and are themselves on a page that is hashed.
  const commands = viewOf(signed);
  commands.setUint32(signatureCommandAt + 12, length, true);
  const linkeditBytes = BigInt(signed.length) - commands.getBigUint64(linkeditAt + 40, true);
  const linkeditPages = (linkeditBytes + BigInt(pageBytes) - 1n) / BigInt(pageBytes);
  commands.setBigUint64(linkeditAt + 32, linkeditPages * BigInt(pageBytes), true);
  commands.setBigUint64(linkeditAt + 48, linkeditBytes, true);

  const blob = viewOf(signed.subarray(signatureAt));
  // The magic number, length and number of blobs; then the type and place of the only one.
  for (const [index, value] of [superBlobMagic, length, 1, 0, superBlobBytes].entries()) {
    blob.setUint32(index * 4, value);
  }
  const directory = viewOf(signed.subarray(signatureAt + superBlobBytes));
  const header = [
    codeDirectoryMagic,
    length - superBlobBytes,
    codeDirectoryVersion,
    adHocFlags,
    hashOffset,
    codeDirectoryBytes,
    0,
    pages,
    signatureAt,
  ];
  for (const [index, value] of header.entries()) directory.setUint32(index * 4, value);
  for (const [index, value] of [hashBytes, sha256Type, 0, pageBits].entries()) {
    directory.setUint8(36 + index, value);
  }
  directory.setBigUint64(72, textBytes);
  directory.setBigUint64(80, mainProgram);
  const directoryAt = signatureAt + superBlobBytes;
  signed.set(name, directoryAt + codeDirectoryBytes);
  signed.set(pageHashes(signed.subarray(0, signatureAt)), directoryAt + hashOffset);
  return signed;
}

interface Layout {
  /** Where the signature is. It is at the end of the program. */
  readonly signatureAt: number;
  readonly signatureCommandAt: number;
  /** The load command of the segment that ends with the signature. */
  readonly linkeditAt: number;
  readonly textBytes: bigint;
}

function layoutOf(program: Uint8Array): Layout {
  const view = viewOf(program);
  if (view.getUint32(0, true) !== machMagic) throw new Error("Not a 64-bit program for macOS");
  const segments = new Map<string, number>();
  let signatureCommandAt: number | null = null;
  let at = machHeaderBytes;
  for (let left = view.getUint32(16, true); left > 0; left -= 1) {
    const command = view.getUint32(at, true);
    if (command === signatureCommand) signatureCommandAt = at;
    if (command === segmentCommand) {
      const name = Buffer.from(program.subarray(at + 8, at + 24)).toString();
      segments.set(name.replace(/\0.*$/s, ""), at);
    }
    at += view.getUint32(at + 4, true);
  }
  const [text, linkeditAt] = [segments.get("__TEXT"), segments.get("__LINKEDIT")];
  if (signatureCommandAt === null || text === undefined || linkeditAt === undefined) {
    throw new Error("The program has no place for a signature");
  }
  const signatureAt = view.getUint32(signatureCommandAt + 8, true);
  if (signatureAt + view.getUint32(signatureCommandAt + 12, true) !== program.length) {
    throw new Error("The signature is not at the end of the program");
  }
  return {
    signatureAt,
    signatureCommandAt,
    linkeditAt,
    textBytes: view.getBigUint64(text + 48, true),
  };
}

function pageHashes(bytes: Uint8Array): Uint8Array {
  const hashes = new Uint8Array(Math.ceil(bytes.length / pageBytes) * hashBytes);
  for (let page = 0; page * hashBytes < hashes.length; page += 1) {
    const content = bytes.subarray(page * pageBytes, (page + 1) * pageBytes);
    hashes.set(new Bun.CryptoHasher("sha256").update(content).digest(), page * hashBytes);
  }
  return hashes;
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
