import { expect, test } from "bun:test";

import { monogramOf } from "../../src/console/page/kit/monogram.ts";
import { readCatalogue } from "../../src/inbound/onboarding/catalogue-entries.ts";
import { catalogue } from "../../src/inbound/providers/catalogue.ts";

test.each([
  ["Stripe", "St"],
  ["Shopify", "Sh"],
  ["Skyhook", "Sk"],
  ["GitHub", "GH"],
  ["monday.com", "MC"],
  ["code_host", "CH"],
  ["X", "X"],
  ["", "?"],
  ["🐢", "?"],
])("%p has the initials %p", (name, initials) => {
  expect(monogramOf(name).initials).toBe(initials);
});

test("no two services look the same", async () => {
  const names = [...catalogue, ...(await readCatalogue())].map(({ displayName }) => displayName);
  const byLook = Map.groupBy([...names, "Skyhook", "Bookings"], (name) =>
    Object.values(monogramOf(name)).join(" "),
  );
  expect([...byLook.values()].filter(({ length }) => length > 1)).toEqual([]);
});
