import { compactJson } from "../signatures/compact-json.ts";
import type { Explanation } from "./explanation.ts";
import { printableJson } from "./printable-json.ts";

/** Something that happens on the way, and what would have been there without it. */
export interface Alteration<Value> extends Explanation {
  /** What it may have been before; none where this cannot have happened. */
  readonly undo: (value: Value) => readonly Value[];
}

/** What editors, shells and proxies do to a body, undone. */
export const bodyAlterations: readonly Alteration<Uint8Array>[] = [
  {
    cause: "trailing-newline-added",
    detail:
      "It verifies without the line break at the end of the body: something between the provider and Skyhook (an editor, `echo`, a proxy) added it, so have it pass the body on unchanged",
    undo: edited((text) => [text.replace(/\r?\n$/, "")]),
  },
  {
    cause: "trailing-newline-lost",
    detail:
      "It verifies with a line break at the end of the body: something trimmed the body on its way, so have it pass the body on unchanged",
    undo: edited((text) => [`${text}\n`, `${text}\r\n`]),
  },
  {
    cause: "line-endings-changed",
    detail:
      "It verifies with the body's line breaks as they were: something changed LF to CRLF or back, so have it pass the body on as bytes, not as text",
    undo: edited((text) => [text.replaceAll("\r\n", "\n"), text.replaceAll(/\r?\n/g, "\r\n")]),
  },
  {
    cause: "body-reformatted",
    detail:
      "It verifies with the body as compact JSON or printed anew: a proxy, gateway or parser formatted it on its way, so have it pass the raw body on",
    undo: (bytes) => [compactJson(bytes), ...reprinted(bytes)],
  },
];

/** What happens to a secret when it is copied, undone. */
export const secretAlterations: readonly Alteration<string | Uint8Array>[] = [
  {
    cause: "secret-white-space",
    detail:
      "It verifies with other white space around the secret: take spaces and line breaks off it here (in an environment variable they count) and at the provider",
    undo: (secret) =>
      typeof secret === "string" ? [secret.trim(), `${secret.trim()}\n`, `${secret.trim()} `] : [],
  },
  {
    cause: "secret-encoding",
    detail:
      "It verifies with the secret's bytes read from hex or base64, or without its prefix: the provider's key is what the text stands for, so give Skyhook the secret in the form that the provider uses as it is",
    undo: (secret) => (typeof secret === "string" ? decodings(secret) : []),
  },
];

/** Edits bytes as text without touching what is no ASCII. */
function edited(edit: (text: string) => readonly string[]): Alteration<Uint8Array>["undo"] {
  return (bytes) =>
    edit(Buffer.from(bytes).toString("latin1")).map((text) => Buffer.from(text, "latin1"));
}

/** The same JSON as the usual printers print it: JavaScript's, Python's, PHP's. */
function reprinted(bytes: Uint8Array): readonly Uint8Array[] {
  const value = printableJson(bytes);
  if (value === undefined) return [];
  const compact = JSON.stringify(value);
  // A printed string holds no line break, so these are all between tokens.
  const spaced = JSON.stringify(value, null, 1)
    .replaceAll(/,\n\s*/g, ", ")
    .replaceAll(/\n\s*/g, "");
  const texts = [compact, spaced, JSON.stringify(value, null, 2), JSON.stringify(value, null, 4)];
  const all = [
    ...texts,
    ...[compact, spaced].map(escaped),
    escaped(compact).replaceAll("/", "\\/"),
  ];
  return all.map((text) => Buffer.from(text));
}

/** With everything beyond ASCII as `\u` escapes (RFC 8259 section 7). */
function escaped(json: string): string {
  return json.replaceAll(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function decodings(secret: string): readonly (string | Uint8Array)[] {
  const bare = secret.trim().replace(/^whsec_/, "");
  const isHex = /^(?:[0-9a-f]{2})+$/i.test(bare);
  const isBase64 = /^[\w+/-]+={0,2}$/.test(bare);
  return [
    bare,
    ...(isHex ? [Buffer.from(bare, "hex")] : []),
    ...(isBase64 ? [Buffer.from(bare, "base64")] : []),
  ];
}
