import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { compile, skyhookEntrypoints } from "../../../scripts/build.ts";
import { codeSignature, signedAdHoc } from "../../../scripts/mach-o.ts";
import { skips } from "../../support/skips.ts";

// macOS ends a program whose pages do not match its signature. Built here for macOS, and checked without a Mac.

const adHoc = 0x2;
const folder = mkdtempSync(join(tmpdir(), "skyhook-mach-o-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Built once for each: Bun's runtime for macOS comes from the package registry. Null if that cannot be reached. */
async function programFor(target: "darwin-x64" | "darwin-arm64"): Promise<Uint8Array | null> {
  try {
    const [file = ""] = await compile(skyhookEntrypoints, join(folder, target), target);
    return await Bun.file(file).bytes();
  } catch (error) {
    if (Bun.inspect(error).includes("Failed to download")) return null;
    throw error;
  }
}

const built = [
  { target: "darwin-x64", program: await programFor("darwin-x64") },
  { target: "darwin-arm64", program: await programFor("darwin-arm64") },
];

for (const { target, program } of built) {
  describe.skipIf(program === null && skips(`Bun's runtime for ${target} cannot be downloaded`))(
    `the program for ${target}`,
    () => {
      const bytes = program ?? new Uint8Array();

      test("has an ad-hoc signature that covers every page and matches each", () => {
        const { wrongPages, coveredBytes, programBytes, pages, flags } = codeSignature(bytes);
        expect({ wrongPages, coveredBytes }).toEqual({
          wrongPages: [],
          coveredBytes: programBytes,
        });
        expect(pages).toBe(Math.ceil(programBytes / 4_096));
        expect(pages).toBeGreaterThan(20_000);
        expect(flags & adHoc).toBe(adHoc);
      });

      test("a changed byte makes its page wrong", () => {
        const changed = Uint8Array.from(bytes);
        const at = 12_345 * 4_096 + 17;
        changed[at] = (changed[at] ?? 0) ^ 1;
        expect(codeSignature(changed).wrongPages).toEqual([12_345]);
      });

      test("signing it again changes nothing", () => {
        // For ARM, this is the signature that Bun made.
        const again = signedAdHoc(bytes, codeSignature(bytes).identifier);
        expect(Buffer.from(again).equals(bytes)).toBe(true);
      });
    },
  );
}
