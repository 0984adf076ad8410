import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { page, root } from "./markdown.ts";

/** Ids at the end of test titles, in brackets: the risk or the kind of fault, and a number. */
const inTests = [...new Bun.Glob("test/**/*.test.ts").scanSync(root)].flatMap((file) =>
  idsIn(readFileSync(join(root, file), "utf8"), /\[([A-Z]+\d*-\d+)\](?=[^"'`\n]*["'`])/g),
);
/** The pages that say which test shows what, by those ids. */
const inPages = ["docs/security.md", "docs/operations.md"].flatMap((file) =>
  idsIn(page(file), /`([A-Z]+\d*-\d+)`/g),
);

function idsIn(text: string, pattern: RegExp): readonly string[] {
  return Array.from(text.matchAll(pattern), ([, id = ""]) => id);
}

test("each id of a test stands in one title", () => {
  expect(inTests.filter((id, index) => inTests.indexOf(id) !== index)).toEqual([]);
});

test("security.md and operations.md name every test that has an id, and no others", () => {
  expect([...new Set(inPages)].toSorted()).toEqual(inTests.toSorted());
});

describe("docs/security.md", () => {
  test("has all ten risks of the OWASP list, each with tests", () => {
    const sections = page("docs/security.md")
      .split(/^### (?=API\d+ )/m)
      .slice(1);
    expect(sections.map((section) => section.split(" ", 1)[0])).toEqual(
      Array.from({ length: 10 }, (_, index) => `API${index + 1}`),
    );
    for (const section of sections) expect(section).toMatch(/^- `API\d+-\d+` /m);
  });
});

test("every row of the faults in docs/operations.md names a test", () => {
  const [, faults = ""] = /^## Faults$(.*?)^## /ms.exec(page("docs/operations.md")) ?? [];
  const rows = faults
    .split("\n")
    .filter((line) => line.startsWith("|") && !/\| test \|$|^\|---/.test(line));
  expect(rows.length).toBeGreaterThan(40);
  for (const row of rows) expect(row).toMatch(/`[A-Z]+\d*-\d+` \|$/);
});
