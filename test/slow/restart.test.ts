import { expect, test } from "bun:test";

import { until } from "../support/app.ts";
import { deliverTo, keyOf } from "../support/load.ts";
import { noOwnPostgres, ownPostgres } from "../support/own-postgres.ts";
import { resources } from "../support/resources.ts";
import { skips } from "../support/skips.ts";

const taken = resources();

test.skipIf(skips(noOwnPostgres))(
  "a database server that crashes under load loses nothing acknowledged, and is found again [PG-1]",
  async () => {
    const database = await ownPostgres();
    taken.ends.push(() => database.end());
    const env = { DATABASE_URL: database.url, DATABASE_RETRY_MS: "500" };
    const server = await taken.start(taken.newFolder(), env);
    const acknowledged = new Set<number>();
    const open = new Set<number>();
    let isOver = false;
    let last = 0;
    const work = async () => {
      while (!isOver) {
        const number = ++last;
        const status = await deliverTo(server, number);
        expect([200, 503]).toContain(status);
        (status === 200 ? acknowledged : open).add(number);
      }
    };
    const loading = Promise.all(Array.from({ length: 8 }, work));
    await until(() => acknowledged.size > 100, 10_000);
    await database.crash();
    await until(() => open.size > 0, 10_000);
    const ready = async () => (await fetch(`${server.url}/readyz`)).status;
    expect(await ready()).toBe(503);
    await database.start();
    const atStart = acknowledged.size;
    await until(() => acknowledged.size > atStart + 100, 15_000);
    expect(await ready()).toBe(200);
    isOver = true;
    await loading;
    for (const number of open) expect(await deliverTo(server, number)).toBe(200);

    await using sql = new Bun.SQL(database.url, { max: 1 });
    const rows: { key: string }[] = await sql.unsafe("select idempotency_key as key from events");
    const stored = rows.map(({ key }) => key).toSorted((a, b) => (a < b ? -1 : 1));
    const wanted = Array.from({ length: last }, (_, n) => keyOf(n + 1));
    expect(stored).toEqual(wanted.toSorted((a, b) => (a < b ? -1 : 1)));
    await sql.close();
    expect(await server.stop()).toBe(0);
  },
  60_000,
);
