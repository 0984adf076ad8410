import { AppError } from "../../base/errors.ts";

import { readBytes, requireUncompressed } from "./body.ts";

/** The size limit for JSON bodies of the REST API. */
const maxBodyBytes = 256 * 1024;
/** The deepest nesting allowed. */
const maxDepth = 32;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads the JSON body of a request. Throws `unsupported-media-type` for anything but uncompressed
 * `application/json`, `body-too-large`, and `invalid-body` for anything but JSON in UTF-8 (RFC 8259).
 */
export async function readJson(request: Request, address: string): Promise<unknown> {
  const [type = ""] = (request.headers.get("content-type") ?? "").split(";", 1);
  if (type.trim().toLowerCase() !== "application/json") {
    const detail = "Content-Type is not supported. Send the body as application/json.";
    throw new AppError("unsupported-media-type", detail, { accept: "application/json" });
  }
  requireUncompressed(request.headers);
  return jsonOf(await readBytes(request, maxBodyBytes, address));
}

/** Parses JSON bytes. Throws `invalid-body` for malformed JSON, too deep nesting or a lone surrogate. */
export function jsonOf(bytes: Uint8Array): unknown {
  const value = parse(bytes);
  if (isDeeper(value, maxDepth)) {
    throw new AppError("invalid-body", `The JSON is nested more than ${maxDepth} levels deep`);
  }
  // An escape can encode a lone surrogate (RFC 8259 section 8.2), which databases cannot store.
  if (!isWellFormed(value)) {
    throw new AppError(
      "invalid-body",
      "The JSON contains a lone surrogate. Escape surrogates in pairs.",
    );
  }
  return value;
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch (error) {
    throw new AppError("invalid-body", "The body is not valid JSON in UTF-8", { cause: error });
  }
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([key, part]) => key.isWellFormed() && isWellFormed(part));
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}
