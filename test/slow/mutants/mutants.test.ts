import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { altered, alteredCopy, type Change } from "../../support/altered-copy.ts";
import { plainEnvironment } from "../../support/program.ts";

import { judge, unchangedResults } from "./judge.ts";
import { mutants } from "./mutants.ts";

describe("each mutant", () => {
  test("has a name of its own", () => {
    expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
  });

  test.each(mutants.map(({ name, changes }) => [name, changes] as const))(
    "changes texts that are there: %s",
    (_, changes) => {
      expect(altered(changes).size).toBeGreaterThan(0);
    },
  );

  // Otherwise a test would notice a misspelt name instead of the broken promise.
  test("has right types", () => {
    using copy = alteredCopy([]);
    for (const { name, changes } of mutants) {
      for (const [file, text] of altered(changes)) {
        if (!file.endsWith(".ts")) continue;
        // Beside the original, where its imports are found.
        writeFileSync(join(copy.folder, file.replace(/\.ts$/, `.${name}.mutant.ts`)), text);
      }
    }
    const config = {
      extends: "./tsconfig.json",
      compilerOptions: { noUnusedLocals: false, noUnusedParameters: false },
      include: ["src/**/*.mutant.ts", "src/**/*.d.ts"],
    };
    writeFileSync(join(copy.folder, "mutants.json"), JSON.stringify(config));
    const command = [process.execPath, "check", "--no-script", "-p", "mutants.json"];
    const checked = Bun.spawnSync(command, { cwd: copy.folder, env: plainEnvironment() });
    const output = `${checked.stdout.toString()}${checked.stderr.toString()}`;
    expect(checked.exitCode === 0 ? "" : output).toBe("");
  });
});

describe("a mutant", () => {
  const file = "test/base/cursor.test.ts";
  const title = "decodes to its item";
  const change = (from: string, to: string): Change => ["src/base/cursor.ts", from, to];
  const verdictOn = async (changes: readonly Change[], testTitle = title) => {
    const mutant = { changes, noticedBy: [file, testTitle] as const };
    return judge(mutant, await unchangedResults([mutant]));
  };
  const limit = "maxCursorLength = 512";

  test("is noticed when its test fails", async () => {
    expect(await verdictOn([change(limit, "maxCursorLength = 0")])).toEqual({
      is: "noticed",
      reason: expect.stringContaining("The cursor does not come from this list"),
    });
  });

  test("has survived when its test passes", async () => {
    expect(await verdictOn([change(limit, "maxCursorLength = 513")])).toEqual({ is: "survived" });
  });

  test("is broken when its text is missing, and the reason names file and text", async () => {
    expect(await verdictOn([change("no such text", "")])).toEqual({
      is: "broken",
      reason: expect.stringMatching(/src\/base\/cursor\.ts has this text 0 times.*\nno such text$/),
    });
  });

  test("is broken when the program cannot be loaded", async () => {
    expect(await verdictOn([change(limit, "maxCursorLength = ;")])).toEqual({
      is: "broken",
      reason: expect.stringContaining("did not run"),
    });
  });

  test("is broken when its test does not exist, or fails without it", async () => {
    const changes = [change(limit, "maxCursorLength = 0")];
    expect(await verdictOn(changes, "no such title")).toEqual({
      is: "broken",
      reason: expect.stringContaining("matched 0 tests"),
    });
    const unchanged = new Map([
      [file, new Map([[title, { is: "failed", reason: "why" } as const]])],
    ]);
    expect(await judge({ changes, noticedBy: [file, title] }, unchanged)).toEqual({
      is: "broken",
      reason: "The test fails without the change too:\nwhy",
    });
  });
});
