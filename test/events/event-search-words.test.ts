import { Database } from "bun:sqlite";
import { beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { write } from "../../src/db/statement.ts";
import { insertEvent } from "../../src/event/events.sql.ts";
import { json, startApp } from "../support/app.ts";
import { listed } from "../support/operator.ts";
import { eventRow } from "../support/rows.ts";
import { appForAll } from "../support/running-app.ts";

const titles = [
  "हिन्दी में",
  "ガード failed",
  "ｶﾞﾗｽ",
  "ไม่ทราบ",
  "Ἀθήνα",
  "경고 한국어",
  "中文 标题",
];

describe("among few events", () => {
  const app = appForAll();
  beforeAll(async () => {
    const events = titles.map((title, index) => write(insertEvent, eventRow(index, { title })));
    await app.services.storage.atomically(...events);
  });

  const found = async (q: string) => {
    const items = await listed(app, `/v1/events?q=${encodeURIComponent(q)}`);
    return items.map(({ title }) => title);
  };

  test.each(titles)("a search finds each word of %p", async (title) => {
    for (const word of title.split(" ")) expect(await found(word)).toEqual([title]);
  });

  test("a search finds nothing by letters that the index drops or truncates", async () => {
    for (const q of ["ͺ", "ͺ*", '"a ͺ"*', "ﷺ".repeat(200), "a ﾞ"]) {
      expect([q, await found(q)]).toEqual([q, []]);
    }
  });
});

test("among many events, the prefixes of a search stand for 200 words in all", async () => {
  const folder = mkdtempSync(join(tmpdir(), "skyhook-search-"));
  const file = join(folder, "skyhook.db");
  const app = await startApp({ DATABASE_URL: `sqlite:${file}` });
  try {
    const database = new Database(file);
    const numbers = (to: number) =>
      `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${to})`;
    database.run(
      `${numbers(20_001)} insert into event_states select n, 'evt_' || n, n, 'none' from numbers`,
    );
    database.run(
      `${numbers(150)} insert into event_words (rowid, words) select n, 'a' || n || ' b' || n from numbers`,
    );
    database.close();
    const search = (q: string) =>
      app.as("operator", `/v1/events?${new URLSearchParams({ q }).toString()}`);
    expect((await search("a* b12*")).status).toBe(200);
    for (const q of ["a* b*", "a* ".repeat(60), '"x a*" "x b"* "x a"*']) {
      const response = await search(q);
      expect([q, response.status]).toEqual([q, 400]);
      expect(String((await json(response))["detail"])).toContain(
        "q: More than 200 words have these beginnings. Write more of ",
      );
    }
  } finally {
    await app.stop();
    rmSync(folder, { recursive: true });
  }
});
