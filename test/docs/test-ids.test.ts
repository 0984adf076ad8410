import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { page, root } from "./markdown.ts";

/** How many tests have an id of each kind: a risk of OWASP's list, or a kind of fault. Their titles say what they show. */
const counts: Readonly<Record<string, number>> = {
  API1: 5,
  API2: 24,
  API3: 7,
  API4: 26,
  API5: 7,
  API6: 3,
  API7: 9,
  API8: 17,
  API9: 3,
  API10: 13,
  TIME: 3,
  BROKER: 5,
  CLIENT: 11,
  CLOCK: 13,
  DB: 23,
  GATEWAY: 4,
  LOG: 3,
  PG: 12,
};

test("each id stands at the end of one title, and none is missing", () => {
  const inTests = [...new Bun.Glob("test/**/*.test.ts").scanSync(root)].flatMap((file) =>
    Array.from(
      readFileSync(join(root, file), "utf8").matchAll(/\[([A-Z]+\d*-\d+)\](?=[^"'`\n]*["'`])/g),
      ([, id = ""]) => id,
    ),
  );
  const due = Object.entries(counts).flatMap(([kind, count]) =>
    Array.from({ length: count }, (_, index) => `${kind}-${index + 1}`),
  );
  expect(inTests.toSorted()).toEqual(due.toSorted());
});

test("docs/security.md has all ten risks of the OWASP list", () => {
  const risks = Array.from(page("docs/security.md").matchAll(/^### (API\d+) /gm), ([, id]) => id);
  const kinds = Object.keys(counts).filter((kind) => kind.startsWith("API"));
  expect(risks).toEqual(kinds);
});
