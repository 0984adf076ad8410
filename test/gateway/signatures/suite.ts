import { describe, expect, test } from "bun:test";

import type { SignatureScheme } from "../../../src/gateway/signatures/signature.ts";

import { bodyRows, changedBodyRows, compactRows, rawOnlyRows } from "./suite/bodies.ts";
import {
  base64Rows,
  changedSignatureRows,
  hexRows,
  otherKindRows,
  prefixRows,
} from "./suite/encodings.ts";
import { headerRows, secretRows, severalRows, timestampRows } from "./suite/headers.ts";
import { properties, verifierTests } from "./suite/properties.ts";
import { outcomeOf, type Row, type Signer, signer } from "./suite/signer.ts";

/**
 * Conformance tests for a signature scheme. Every provider in the catalogue runs them without tests of its
 * own. The expected signatures come from node:crypto, not from the engine under test.
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
    describe("properties", () => properties(by));
  });
}

const sections: Readonly<Record<string, (by: Signer) => readonly Row[]>> = {
  "unchanged bodies": bodyRows,
  "changed bodies": changedBodyRows,
  "changed signatures": changedSignatureRows,
  encodings: (by) => (by.scheme.encoding === "hex" ? hexRows(by) : base64Rows(by)),
  "other MACs and digests": otherKindRows,
  prefix: prefixRows,
  headers: headerRows,
  secrets: secretRows,
  timestamp: timestampRows,
  "several signatures": (by) => (by.timestamped ? severalRows(by) : []),
  "reformatted JSON": (by) => (by.compacts ? compactRows(by) : rawOnlyRows(by)),
};
