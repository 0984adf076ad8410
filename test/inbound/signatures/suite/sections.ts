import { oneOrMore } from "../../../../src/base/place.ts";
import { isFixedSize } from "../../../../src/inbound/signatures/encodings.ts";
import type { TextScheme } from "../../../../src/inbound/signatures/scheme.schema.ts";
import {
  headerIn,
  isTextScheme,
  signaturePlaces,
  type SignatureScheme,
} from "../../../../src/inbound/signatures/scheme.ts";

import { bodyRows, changedBodyRows, compactRows, rawOnlyRows } from "./bodies.ts";
import {
  base64Rows,
  base64urlRows,
  changedSignatureRows,
  hexRows,
  otherKindRows,
  prefixRows,
} from "./encodings.ts";
import { headerRows, secretRows, signedValueRows } from "./headers.ts";
import { severalRows } from "./several.ts";
import type { Row, Signer } from "./signer.ts";
import { timestampRows } from "./times.ts";

/**
 * The conformance suite of schemes that sign a text and send the signature in a header. Every built-in provider and every provider
 * file runs it without tests of its own. The expected signatures come from node:crypto, not from the engine.
 */
export const sections: Readonly<Record<string, (by: Signer) => readonly Row[]>> = {
  "unchanged bodies": bodyRows,
  "changed bodies": changedBodyRows,
  "changed signatures": changedSignatureRows,
  encodings: encodingRows,
  "other MACs and digests": otherKindRows,
  prefix: prefixRows,
  headers: headerRows,
  "signed values": signedValueRows,
  secrets: secretRows,
  timestamp: timestampRows,
  "several signatures": severalRows,
  "reformatted JSON": (by) => (by.compacts ? compactRows(by) : rawOnlyRows(by)),
};

function encodingRows(by: Signer): readonly Row[] {
  // What is written in another encoding can be well-formed where the size varies.
  if (!isFixedSize(by.scheme)) return [];
  switch (by.scheme.encoding) {
    case "base64":
      return base64Rows(by);
    case "base64url":
      return base64urlRows(by);
    default:
      return hexRows(by);
  }
}

/** What a text may consist of so that any body can be signed. */
const plainName =
  /^(?:body|compactJson|bodySha256|bodyCrc32|method|url|path|timestamp|id|secret|(?:header|query)\..+)$/;

/** Whether the suite can sign any body with the scheme: nothing that it needs is in the payload. */
export function signsAnyBody(scheme: SignatureScheme): scheme is TextScheme {
  if (!isTextScheme(scheme)) return false;
  const { signs, timestamp, id } = scheme;
  const templates = typeof signs === "string" ? [signs] : "lines" in signs ? [] : signs;
  const names = templates.flatMap((template) =>
    Array.from(template.matchAll(/(?<!\{)\{([^{}]+)\}/g), ([, name = ""]) => name),
  );
  const account = "secretAt" in scheme ? scheme.secretAt : undefined;
  const places = [
    ...signaturePlaces(scheme).slice(0, 1),
    ...oneOrMore(timestamp?.from),
    ...oneOrMore(id),
    account,
  ];
  return (
    names.length > 0 &&
    names.every((name) => plainName.test(name)) &&
    places.every((place) => place === undefined || headerIn(place) !== null)
  );
}
