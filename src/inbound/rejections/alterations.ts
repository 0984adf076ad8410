import { prettyJson } from "../../base/json-text.ts";
import { parseJson } from "../../base/json.ts";
import { compactJson } from "../signatures/compact-json.ts";

import type { Explanation } from "./explanation.ts";

/** A common mistake in transit or in configuration, with a function that undoes it. */
export interface Alteration<Value> extends Explanation {
  /** The possible original values, each made when it is asked for. None if the value cannot be the result of this mistake. */
  readonly undo: (value: Value) => Iterable<Value>;
}

/** What editors, shells and proxies do to a body. */
export const bodyAlterations: readonly Alteration<Uint8Array>[] = [
  {
    cause: "trailing-newline-added",
    detail:
      "The webhook verifies without the line break at the end of the body. An editor, `echo` or a proxy added it. Forward the body unchanged.",
    undo: edited((text) => [text.replace(/\r?\n$/, "")]),
  },
  {
    cause: "trailing-newline-lost",
    detail:
      "The webhook verifies with a line break at the end of the body. An editor or a proxy removed it. Forward the body unchanged.",
    undo: edited((text) => [`${text}\n`, `${text}\r\n`]),
  },
  {
    cause: "line-endings-changed",
    detail:
      "The webhook verifies with other line endings in the body. Something in between converted LF to CRLF or CRLF to LF. Forward the body as bytes, not as text.",
    undo: edited((text) => [text.replaceAll("\r\n", "\n"), text.replaceAll(/\r?\n/g, "\r\n")]),
  },
  {
    cause: "body-reformatted",
    detail:
      "The webhook verifies with the body as compact JSON or formatted differently. A proxy, gateway or parser reformatted it. Forward the raw body.",
    *undo(bytes) {
      yield compactJson(bytes);
      yield* reprinted(bytes);
    },
  },
];

/** A mistake in copying a secret. `undo` returns keys; `keyOf` derives the key of a text as the scheme does. */
export interface SecretAlteration extends Explanation {
  readonly undo: (secret: string, keyOf: KeyOf) => readonly (string | Uint8Array)[];
}
type KeyOf = (secret: string) => readonly (string | Uint8Array)[];

export const secretAlterations: readonly SecretAlteration[] = [
  {
    cause: "secret-white-space",
    detail:
      "The webhook verifies with different white space around the secret. Remove spaces and line breaks from the secret in Skyhook (environment variables are not trimmed) and at the provider.",
    undo: (secret, keyOf) =>
      [secret.trim(), `${secret.trim()}\n`, `${secret.trim()} `].flatMap(keyOf),
  },
  {
    cause: "secret-encoding",
    detail:
      "The webhook verifies with the secret decoded from hex or base64, not decoded, or without its prefix. Configure the same key at the provider and in Skyhook.",
    undo: decodings,
  },
];

/** Edits bytes as text and leaves non-ASCII bytes unchanged. */
function edited(edit: (text: string) => readonly string[]): Alteration<Uint8Array>["undo"] {
  return (bytes) =>
    edit(Buffer.from(bytes).toString("latin1")).map((text) => Buffer.from(text, "latin1"));
}

/** The same JSON as JavaScript, Python and PHP format it. */
function* reprinted(bytes: Uint8Array): Generator<Uint8Array, void> {
  const text = new TextDecoder().decode(bytes);
  if (prettyJson(text) === null) return;
  const value = parseJson(text);
  const compact = JSON.stringify(value);
  yield Buffer.from(compact);
  // Line breaks in strings are escaped, so these are all between tokens.
  const spaced = JSON.stringify(value, null, 1)
    .replaceAll(/,\n\s*/g, ", ")
    .replaceAll(/\n\s*/g, "");
  yield Buffer.from(spaced);
  yield Buffer.from(JSON.stringify(value, null, 2));
  yield Buffer.from(JSON.stringify(value, null, 4));
  const ascii = escaped(compact);
  yield Buffer.from(ascii);
  yield Buffer.from(escaped(spaced));
  yield Buffer.from(ascii.replaceAll("/", "\\/"));
}

/** Replaces non-ASCII characters by `\u` escapes (RFC 8259 section 7). */
function escaped(json: string): string {
  return json.replaceAll(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function decodings(secret: string): readonly (string | Uint8Array)[] {
  const bare = secret.trim().replace(/^whsec_/, "");
  const isHex = /^(?:[0-9a-f]{2})+$/i.test(bare);
  const isBase64 = /^[\w+/-]+={0,2}$/.test(bare);
  return [
    secret,
    bare,
    ...(isHex ? [Buffer.from(bare, "hex")] : []),
    ...(isBase64 ? [Buffer.from(bare, "base64")] : []),
  ];
}
