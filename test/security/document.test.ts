import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");
const page = read("docs/security.md");

/** The rows of the table of limits. */
const limits = [...page.matchAll(/^\| ([^|]+) \| `([^`]+)` \| `(src\/[^`]+)` \|/gm)].map(
  ([, limit = "", code = "", file = ""]) => ({ limit, code, file }),
);

describe("docs/security.md", () => {
  test.each(limits)("$limit: $code in $file", ({ code, file }) => {
    const escaped = code.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
    const matches = new RegExp(`\\b${escaped}(?:[;,]|$)`, "m").test(read(file));
    expect(matches, `${file} differs from the table. Update the row in docs/security.md.`).toBe(
      true,
    );
  });

  test("has a row for every GraphQL limit", async () => {
    const { limits: found } = await import("../../src/web/graphql/limits.ts");
    const rows = limits.filter(({ file }) => file === "src/web/graphql/limits.ts");
    const names = rows.map(({ code }) => code.replace(/:.*/, ""));
    expect(names.toSorted()).toEqual(Object.keys(found).toSorted());
  });
});
