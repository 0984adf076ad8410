import { AppError } from "../../base/errors.ts";

import { readBytes, requireNoCoding } from "./body.ts";

/** The largest body that the API takes. */
const maxBodyBytes = 256 * 1024;
/** Deeper nesting is no request of ours. */
const maxDepth = 32;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * The JSON of a request. Throws `unsupported-media-type` for anything but uncompressed
 * `application/json`, `body-too-large`, and `invalid-body` for what is not JSON in UTF-8 (RFC 8259).
 */
export async function readJson(request: Request): Promise<unknown> {
  const [type = ""] = (request.headers.get("content-type") ?? "").split(";", 1);
  if (type.trim().toLowerCase() !== "application/json") {
    const detail = "Send the body as application/json";
    throw new AppError("unsupported-media-type", detail, { accept: "application/json" });
  }
  requireNoCoding(request.headers);
  return jsonOf(await readBytes(request, maxBodyBytes));
}

/** The value of JSON bytes. Throws `invalid-body` for what is not JSON, too deep, or has a lone surrogate. */
export function jsonOf(bytes: Uint8Array): unknown {
  const value = parse(bytes);
  if (isDeeper(value, maxDepth)) {
    throw new AppError("invalid-body", `The body is nested more than ${maxDepth} levels deep`);
  }
  // An escape can write half a character (RFC 8259 section 8.2), which no database keeps as it is.
  if (!isWellFormed(value)) {
    throw new AppError(
      "invalid-body",
      "The body has half a character: a surrogate without its pair",
    );
  }
  return value;
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch (error) {
    throw new AppError("invalid-body", "The body is not JSON in UTF-8", { cause: error });
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
