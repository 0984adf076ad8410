import fc from "fast-check";

import { compactJson } from "../../../src/inbound/signatures/compact-json.ts";

import { hostileBody, jsonText } from "./json.ts";
import { shownBytes } from "./request.ts";
import { target } from "./target.ts";

/**
 * JSON without white space outside strings, written another way than ours: as a search for whole
 * tokens in a text of one character a byte.
 */
function compactReference(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString("latin1");
  // A string, ended or not; else one character that may be white space.
  const tokens = text.match(/"(?:[^"\\]|\\[^])*(?:"|\\?$)|[^]/g) ?? [];
  const kept = tokens.filter((token) => !/^[ \t\n\r]$/.test(token));
  return Buffer.from(kept.join(""), "latin1");
}

/** Whether two texts are the same JSON, duplicate keys and ways to write a letter aside. */
function isSameJson(one: string, other: string): boolean {
  return JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other));
}

const bodies = fc.oneof(
  jsonText.map((text) => ({ bytes: Uint8Array.from(Buffer.from(text)), isJson: true })),
  hostileBody.map((bytes) => ({ bytes, isJson: false })),
  fc
    .array(fc.constantFrom('"', "\\", " ", "\n", "a", "{", "\u00e9"), { maxLength: 30 })
    .map((parts) => ({ bytes: Uint8Array.from(Buffer.from(parts.join(""))), isJson: false })),
);

export const compact = target({
  name: "compact-json",
  about: "our removal of white space against an independent tokenizer",
  shortRuns: 300,
  cases: bodies,
  show: ({ bytes }) => shownBytes(bytes),
  check({ bytes, isJson }) {
    const found = compactJson(bytes);
    if (!Buffer.from(found).equals(compactReference(bytes))) {
      throw new Error(`Ours is ${shownBytes(found)}`);
    }
    if (!Buffer.from(compactJson(found)).equals(found)) throw new Error("Twice is not once");
    if (isJson && !isSameJson(Buffer.from(bytes).toString(), Buffer.from(found).toString())) {
      throw new Error("It says something else");
    }
  },
});
