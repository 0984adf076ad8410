import { describe, expect, test } from "bun:test";

import type { SignatureScheme } from "../../src/gateway/signatures/signature.ts";

import { bodyRows, changedBodyRows, compactRows, rawOnlyRows } from "./signature/bodies.ts";
import {
  base64Rows,
  changedSignatureRows,
  hexRows,
  otherKindRows,
  prefixRows,
} from "./signature/encodings.ts";
import { headerRows, secretRows, severalRows, timestampRows } from "./signature/headers.ts";
import { properties, verifierTests } from "./signature/properties.ts";
import { outcomeOf, type Row, type Signer, signer } from "./signature/signer.ts";

/**
 * What holds for every provider's signature, told by its scheme alone: a provider in the catalogue
 * gets all of this with no line of test written. Signatures are made here with node:crypto, not with
 * the engine under test.
 */
export function signatureSuite(name: string, scheme: SignatureScheme): void {
  const by = signer(scheme);
  describe(`signature of ${name}`, () => {
    for (const [section, rowsOf] of Object.entries(sections)) {
      describe(section, () => {
        for (const [behaviour, outcome, attempt] of rowsOf(by)) {
          test(`${behaviour}: ${outcome}`, () => expect(outcomeOf(by, attempt)).toBe(outcome));
        }
      });
    }
    describe("verifier", () => verifierTests(by));
    describe("for anything sent", () => properties(by));
  });
}

const sections: Readonly<Record<string, (by: Signer) => readonly Row[]>> = {
  "bodies as they are": bodyRows,
  "bodies that were changed": changedBodyRows,
  "signatures that were changed": changedSignatureRows,
  "ways to write a signature": (by) =>
    by.scheme.encoding === "hex" ? hexRows(by) : base64Rows(by),
  "signatures of another kind": otherKindRows,
  prefix: prefixRows,
  headers: headerRows,
  secrets: secretRows,
  timestamp: timestampRows,
  "several signatures": (by) => (by.timestamped ? severalRows(by) : []),
  "JSON written differently": (by) => (by.compacts ? compactRows(by) : rawOnlyRows(by)),
};
