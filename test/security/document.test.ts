import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");
const page = read("docs/security.md");

/** Tests that the page names, as `- \`file\`: title`. */
const named = [...page.matchAll(/^- `(test\/[^`]+\.test\.ts)`: (.+)$/gm)].map(
  ([, file = "", title = ""]) => ({ file, title }),
);
/** Rows of the table of limits. */
const limits = [...page.matchAll(/^\| ([^|]+) \| `([^`]+)` \| `(src\/[^`]+)` \|/gm)].map(
  ([, limit = "", code = "", file = ""]) => ({ limit, code, file }),
);

describe("docs/security.md", () => {
  test("has all ten of OWASP's list, each with tests", () => {
    const parts = page.split(/^### (?=API\d+ )/m).slice(1);
    expect(parts.map((part) => part.split(" ", 1)[0])).toEqual(
      Array.from({ length: 10 }, (_, index) => `API${index + 1}`),
    );
    for (const part of parts) expect(part).toMatch(/^- `test\//m);
    // Whatever else looks like a test's name must be one.
    expect(named).toHaveLength(page.match(/^- `test\//gm)?.length ?? 0);
  });

  test.each(named)("names a test that there is: $file: $title", ({ file, title }) => {
    expect(existsSync(join(root, file))).toBe(true);
    const titles = [...read(file).matchAll(/(["'`])((?:(?!\1).)+)\1,\s*(?:async )?\(/g)].map(
      ([, , found]) => found,
    );
    expect(titles).toContain(title);
  });

  test.each(limits)("$limit: $code in $file", ({ code, file }) => {
    const escaped = code.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
    const matches = new RegExp(`\\b${escaped}(?:[;,]|$)`, "m").test(read(file));
    expect(matches, `${file} says otherwise: change the row in docs/security.md`).toBe(true);
  });

  test("has a row for every limit of a query", async () => {
    const { limits: found } = await import("../../src/web/graphql/limits.ts");
    const rows = limits.filter(({ file }) => file === "src/web/graphql/limits.ts");
    const names = rows.map(({ code }) => code.replace(/:.*/, ""));
    expect(names.toSorted()).toEqual(Object.keys(found).toSorted());
  });
});
