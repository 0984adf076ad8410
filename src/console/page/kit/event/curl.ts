/** What `curlOf` needs to rebuild a delivery. */
export interface Delivery {
  readonly provider: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly bodyEncoding: "utf-8" | "base64";
}

/** Headers that curl sets itself, and headers that describe only the original connection. */
const skippedHeaders =
  /^(host|content-length|connection|accept-encoding|transfer-encoding|expect|x-forwarded-.*|forwarded|via)$/;
/**
 * Characters that a terminal might interpret when they are pasted (escape sequences), or that change how
 * text is displayed (bidirectional controls).
 */
const unprintable = /[^\t\n\u0020-\u007e\u00a1-\u00ac\u00ae-\u05ff\u3000-\ud7ff]/;

/** A shell command that posts the same bytes. It has no signature, nor a secret in its URL. */
export function curlOf(
  origin: string,
  { provider, headers, body, bodyEncoding }: Delivery,
): string {
  const lines = Object.entries(headers)
    .filter(([name, value]) => !skippedHeaders.test(name) && !unprintable.test(value))
    .map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)}`);
  const isPlain = bodyEncoding === "utf-8" && !unprintable.test(body) && !body.startsWith("@");
  const command = [
    `curl -X POST ${quoted(`${origin}/webhooks/${encodeURIComponent(provider)}`)}`,
    ...lines,
    `  --data-binary ${isPlain ? quoted(body) : "@-"}`,
  ].join(" \\\n");
  const note =
    "# Without its signature or secret: add the header, or the end of the URL, that your provider sends.\n";
  if (isPlain) return note + command;
  const base64 = bodyEncoding === "base64" ? body : toBase64(body);
  return `${note}printf %s ${base64} | base64 -d | ${command}`;
}

/** Quotes text as a single word for a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function toBase64(text: string): string {
  const bytes = new TextEncoder().encode(text);
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
