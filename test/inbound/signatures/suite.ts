import { describe, expect, test } from "bun:test";

import type { TextScheme } from "../../../src/inbound/signatures/scheme.schema.ts";

import { properties, verifierTests } from "./suite/properties.ts";
import { sections } from "./suite/sections.ts";
import { isExpected, outcomeOf, signer } from "./suite/signer.ts";

/** The rows of the suite that a scheme judges wrongly. */
export function wrongRows(scheme: TextScheme): readonly string[] {
  const by = signer(scheme);
  return Object.entries(sections).flatMap(([section, rowsOf]) =>
    rowsOf(by).flatMap(([behaviour, expected, attempt]) => {
      const outcome = outcomeOf(by, attempt);
      return isExpected(expected, outcome)
        ? []
        : [`${section}: ${behaviour} is ${outcome} instead of ${expected}`];
    }),
  );
}

/**
 * Conformance tests for a signature scheme. Every built-in provider runs them without tests of its
 * own. The expected signatures come from node:crypto, not from the engine under test.
 */
export function signatureSuite(name: string, scheme: TextScheme): void {
  const by = signer(scheme);
  describe(`signature of ${name}`, () => {
    for (const [section, rowsOf] of Object.entries(sections)) {
      describe(section, () => {
        for (const [behaviour, outcome, attempt] of rowsOf(by)) {
          test(`${behaviour}: ${outcome}`, () => {
            const found = outcomeOf(by, attempt);
            expect<string>(isExpected(outcome, found) ? outcome : found).toBe(outcome);
          });
        }
      });
    }
    describe("verifier", () => verifierTests(by));
    describe("properties", () => properties(by));
  });
}
