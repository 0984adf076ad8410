/** Exact bytes, encoded for JSON. */
export interface BodyText {
  /** Text where the bytes are valid UTF-8, otherwise base64. Null when the bytes are not stored. */
  readonly body: string | null;
  readonly bodyEncoding: "utf-8" | "base64";
}

const exactUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function bodyText(bytes: Uint8Array | null): BodyText {
  if (bytes === null) return { body: null, bodyEncoding: "utf-8" };
  try {
    return { body: exactUtf8.decode(bytes), bodyEncoding: "utf-8" };
  } catch {
    return { body: Buffer.from(bytes).toString("base64"), bodyEncoding: "base64" };
  }
}
