import { nodeCrypto } from "../../../../src/base/crypto.ts";

/** The values of a reference text. */
interface ReferenceParts {
  readonly body: Uint8Array;
  readonly method: string;
  readonly url: string;
  readonly time: string;
  readonly id: string;
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The signed text, made by other means than the engine's. For bodies that are compact already. */
export function referenceText(template: string, parts: ReferenceParts): Buffer {
  const pieces = template.split(/(\{\{|\}\}|\{[^}]*\})/);
  return Buffer.concat(pieces.map((piece) => Buffer.from(valueOf(piece, parts))));
}

function valueOf(piece: string, parts: ReferenceParts): string | Uint8Array {
  const { createHash } = nodeCrypto();
  switch (piece) {
    case "{{":
    case "}}":
      return piece.slice(1);
    case "{body}":
    case "{compactJson}":
      return parts.body;
    case "{bodySha256}":
      return createHash("sha256").update(parts.body).digest("hex");
    case "{bodyCrc32}":
      return String(crc32(parts.body));
    case "{method}":
      return parts.method;
    case "{url}":
      return parts.url;
    case "{path}":
      return new URL(parts.url).pathname;
    case "{timestamp}":
      return parts.time;
    case "{id}":
      return parts.id;
    case "{secret}":
      return parts.secret;
    default:
      return placeValue(piece, parts);
  }
}

function placeValue(piece: string, { headers, url }: ReferenceParts): string {
  const [, kind = "", name = ""] = /^\{(header|query)\.(.*)\}$/.exec(piece) ?? [];
  if (kind === "header") return headers[name] ?? "";
  return kind === "query" ? (new URL(url).searchParams.get(name) ?? "") : piece;
}

/** CRC-32 (ISO/IEC 8802-3), bit by bit. */
function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}
