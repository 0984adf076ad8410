import { expect, test } from "bun:test";

import { write } from "../../src/db/statement.ts";
import { insertEvent } from "../../src/event/events.sql.ts";
import { agentAs } from "../support/mcp.ts";
import { itemsOf, listed } from "../support/operator.ts";
import { eventRow } from "../support/rows.ts";
import { appForAll } from "../support/running-app.ts";

const app = appForAll();

// With the number of calls that find nothing: each reads at most five pages, here of one booking each.
test.each([
  [1, 1],
  [2, 0],
  [3, 0],
  [100, 0],
])("events behind many bookings are found, %i at a time", async (limit, empty) => {
  if ((await listed(app, "/v1/events")).length === 0) {
    for (const [number, provider] of "aaabbbbbbb".split("").entries()) {
      const row = eventRow(number, { provider: provider === "a" ? "task_tracker" : "bookings" });
      await app.services.storage.atomically(write(insertEvent, row));
    }
  }
  const agent = await agentAs(app);
  const pages: unknown[][] = [];
  let cursor: unknown;
  do {
    const given = { limit, ...(cursor !== undefined && { cursor }) };
    const page = await agent.tool("search_events", given);
    pages.push(itemsOf(page["items"]).map(({ id }) => id));
    cursor = page["nextCursor"];
  } while (cursor !== undefined);
  const visible = await listed(app, "/v1/events?provider=task_tracker");
  expect(pages.flat()).toEqual(visible.map(({ id }) => id));
  expect(pages.filter(({ length }) => length === 0)).toHaveLength(empty);
  expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(limit);
});
