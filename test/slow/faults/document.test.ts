import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

test("every fault in docs/faults.md names a test that there is", () => {
  const read = (path: string) => readFileSync(join(import.meta.dir, path), "utf8");
  const files = readdirSync(import.meta.dir).filter((name) => !name.startsWith("document"));
  const tests = [
    ...files,
    "../../gateway/notifications/notifications.test.ts",
    "../../web/rest/hardening.test.ts",
  ]
    .map(read)
    .join("\n");
  const rows = read("../../../docs/faults.md")
    .split("\n")
    .filter((line) => line.startsWith("|") && !/^\|( what| fault|---)/.test(line));
  const cells = rows.map((row) => row.split("|").at(-2) ?? "");
  expect(cells.length).toBeGreaterThan(40);
  for (const cell of cells) expect(cell).toMatch(/\*.+\*|\.test\.ts/);
  const names = cells.flatMap((cell) =>
    Array.from(cell.matchAll(/\*([^*]+)\*/g), ([, name]) => name),
  );
  expect(names.filter((name) => name === undefined || !tests.includes(name))).toEqual([]);
});
