import { Database } from "bun:sqlite";
import { beforeAll, describe, expect, test } from "bun:test";

import { write } from "../../src/db/statement.ts";
import { insertEvent } from "../../src/event/events.sql.ts";
import { json } from "../support/app.ts";
import { listed } from "../support/operator.ts";
import { resources } from "../support/resources.ts";
import { eventRow } from "../support/rows.ts";
import { appForAll } from "../support/running-app.ts";

const taken = resources();

/** Titles, each with searches that find it and no other one. */
const found: readonly (readonly [title: string, ...searches: string[]])[] = [
  ["本番環境のデプロイに失敗しました", "失敗", "デプロイ", "本番環境", "失敗*", '"に失敗"'],
  ["部署失败生产环境回滚", "生产环境", "失败"],
  ["서버배포실패알림", "배포", "배포".normalize("NFD"), "실패*"],
  ["ระบบล้มเหลว", "ล้มเหลว"],
  ["Ελλάδα τιμολόγιο", "ελλαδα", "ΕΛΛΆΔΑ", "ελλ*"],
  ["ΣΊΣΥΦΟΣ", "σίσυφος", "σισυφοσ", "Σισυφ*"],
  ["Grüße aus der STRASSE", "straße", "GRUSSE", "grü*"],
  ["İstanbul deniz", "istanbul", "ISTANBUL"],
  ["شَرْق", "شرق"],
  ["می\u200cخواهم", "میخواهم"],
  ["ﬁle １２３", "file", "123"],
];
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
    const all = [...titles, ...found.map(([title]) => title)];
    const events = all.map((title, index) => write(insertEvent, eventRow(index, { title })));
    await app.services.storage.atomically(...events);
  });

  const titlesFound = async (q: string) => {
    const items = await listed(app, `/v1/events?q=${encodeURIComponent(q)}`);
    return items.map(({ title }) => title);
  };

  test.each(titles)("a search finds each word of %p", async (title) => {
    for (const word of title.split(" ")) expect(await titlesFound(word)).toEqual([title]);
  });

  test.each(found)("a search finds %p", async (title, ...searches) => {
    for (const q of searches) expect([q, await titlesFound(q)]).toEqual([q, [title]]);
  });

  test("a search finds nothing by letters that the index drops or truncates", async () => {
    for (const q of ["ͺ", "ͺ*", '"zz ͺ"*', "ﷺ".repeat(200), "a ﾞ"]) {
      expect([q, await titlesFound(q)]).toEqual([q, []]);
    }
  });
});

test("among many events, the prefixes of a search stand for 200 words in all", async () => {
  const file = taken.newFile();
  const app = await taken.app({ DATABASE_URL: `sqlite:${file}` });
  const database = new Database(file);
  const numbers = (to: number) =>
    `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${to})`;
  database.run(
    `${numbers(20_001)} insert into events (position, tail, provider, type, status, idempotency_key, occurred_at, title, data, body_bytes, duplicates)
      select n, n, 'p', 't', 'ignored', n, 0, '', '{}', 0, 0 from numbers`,
  );
  database.run(
    `${numbers(150)} insert into event_words (rowid, words) select 19_851 + n, 'a' || n || ' b' || n from numbers`,
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
});
