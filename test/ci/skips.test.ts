import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

import { resources } from "../support/resources.ts";

import { expectedSkips, skipsByReason, unexpectedSkips } from "./skips.ts";

const root = join(import.meta.dir, "../..");
const taken = resources();
const line = (file: string, reason: string) => JSON.stringify({ file, reason });

describe("skipped tests", () => {
  test("are listed by reason, and a complete machine has only expected ones", () => {
    const [expected = ""] = Object.keys(expectedSkips);
    const [one, two] = [line("a", "no tool"), line("c", "no tool")];
    const lines = [one, line("b", expected), two, one, ""];
    expect(skipsByReason(lines).get(expected)).toEqual(["b"]);
    expect(unexpectedSkips(lines)).toEqual(["no tool (skips tests of a, c)"]);
    expect(unexpectedSkips([line("a", "toString")])).toHaveLength(1);
  });

  test("are noted with their file, when one process runs several", () => {
    const folder = taken.newFolder();
    const names = ["one.test.ts", "two.test.ts"];
    const imported = JSON.stringify(join(root, "test/support/skips.ts"));
    for (const name of names) {
      const body = `import { test } from "bun:test"; import { skips } from ${imported};
        test.skipIf(skips("no tool"))("is skipped", () => {}); test("runs", () => {});`;
      writeFileSync(join(folder, name), body);
    }
    const list = join(folder, "skips");
    const env = { ...process.env, TEST_SKIPS: list };
    const command = [process.execPath, "test", "--no-isolate"];
    expect(Bun.spawnSync(command, { cwd: folder, env }).exitCode).toBe(0);
    const noted = skipsByReason(readFileSync(list, "utf8").split("\n")).get("no tool") ?? [];
    expect(noted.map((file) => basename(file)).toSorted()).toEqual(names);
  });

  test("all have a reason", () => {
    const without = [...new Bun.Glob("test/**/*.ts").scanSync(root)].flatMap((file) => {
      const text = readFileSync(join(root, file), "utf8");
      const found = text.matchAll(/(?:test|describe)(?:\.\w+)*\.(?:skip|todo|if)\w*\(.*/g);
      return Array.from(found, ([code]) => `${file}: ${code}`);
    });
    expect(without.length).toBeGreaterThan(50);
    expect(without.filter((code) => !/skipIf\(.*(?:skips\(|isSkipped)/.test(code))).toEqual([]);
  });
});
