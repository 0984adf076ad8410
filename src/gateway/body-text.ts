/** Exact bytes, as they can travel in JSON. */
export interface BodyText {
  /** As text where they are UTF-8; null when they are not kept. */
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
