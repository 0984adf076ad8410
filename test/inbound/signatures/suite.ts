import { describe, expect, test } from "bun:test";

import {
  isExpected,
  outcomeOf,
  signer,
} from "../../../src/inbound/signatures/conformance/signer.ts";
import { sections } from "../../../src/inbound/signatures/conformance/suite.ts";
import type { TextScheme } from "../../../src/inbound/signatures/scheme.schema.ts";

import { properties, verifierTests } from "./suite/properties.ts";

/**
 * Conformance tests for a signature scheme. Every provider in the catalogue runs them without tests of its
 * own. The expected signatures come from node:crypto, not from the engine under test.
 */
export function signatureSuite(name: string, scheme: TextScheme): void {
  const by = signer(scheme);
  describe(`signature of ${name}`, () => {
    for (const [section, rowsOf] of Object.entries(sections)) {
      describe(section, () => {
        for (const [behaviour, outcome, attempt] of rowsOf(by)) {
          test(`${behaviour}: ${outcome}`, () => {
            const found: string = outcomeOf(by, attempt);
            expect(isExpected(outcome, outcomeOf(by, attempt)) ? outcome : found).toBe(outcome);
          });
        }
      });
    }
    describe("verifier", () => verifierTests(by));
    describe("properties", () => properties(by));
  });
}
