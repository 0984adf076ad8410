/** What it takes to send a delivery again by hand. */
export interface Delivery {
  readonly provider: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly bodyEncoding: "utf-8" | "base64";
}

/** Headers that curl makes itself, or that were true of the first request only. */
const ownHeaders =
  /^(host|content-length|connection|accept-encoding|transfer-encoding|expect|x-forwarded-.*|forwarded|via)$/;
/** What a terminal could take for more than text when it is pasted. */
const unprintable = /[^\t\n\u0020-\u007e\u00a1-\u00ac\u00ae-\u05ff\u3000-\ud7ff]/;

/** A command for a shell that posts the same bytes. The signature is for whoever has the secret to add. */
export function curlOf(
  origin: string,
  { provider, headers, body, bodyEncoding }: Delivery,
): string {
  const lines = Object.entries(headers)
    .filter(([name, value]) => !ownHeaders.test(name) && !unprintable.test(value))
    .map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)}`);
  const isPlain = bodyEncoding === "utf-8" && !unprintable.test(body) && !body.startsWith("@");
  const command = [
    `curl -X POST ${quoted(`${origin}/webhooks/${encodeURIComponent(provider)}`)}`,
    ...lines,
    `  --data-binary ${isPlain ? quoted(body) : "@-"}`,
  ].join(" \\\n");
  const note = "# The signature is not shown: add the header that your secret makes.\n";
  if (isPlain) return note + command;
  const base64 = bodyEncoding === "base64" ? body : toBase64(body);
  return `${note}printf %s ${base64} | base64 -d | ${command}`;
}

/** One word for a POSIX shell, whatever is in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function toBase64(text: string): string {
  const bytes = new TextEncoder().encode(text);
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
