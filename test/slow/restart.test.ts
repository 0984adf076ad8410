import { expect, test } from "bun:test";

import { until } from "../support/app.ts";
import { deliverTo, keepDelivering, keysOnServer } from "../support/load.ts";
import { noOwnPostgres } from "../support/own-postgres.ts";
import { resources } from "../support/resources.ts";
import { skips } from "../support/skips.ts";

const taken = resources();

test.skipIf(skips(noOwnPostgres))(
  "a database server that crashes under load loses nothing acknowledged, and is found again [PG-1]",
  async () => {
    const database = await taken.ownPostgres();
    const env = { DATABASE_URL: database.url, DATABASE_RETRY_MS: "500" };
    const server = await taken.start(taken.newFolder(), env);
    const { acknowledged, refused, statuses, end } = keepDelivering(server, 8);
    await until(() => acknowledged.size > 100, 10_000);
    await database.crash();
    await until(() => refused.size > 0, 10_000);
    const ready = async () => (await fetch(`${server.url}/readyz`)).status;
    expect(await ready()).toBe(503);
    await database.start();
    const atStart = acknowledged.size;
    await until(() => acknowledged.size > atStart + 100, 15_000);
    expect(await ready()).toBe(200);
    const keys = await end();
    expect(statuses).toEqual(new Set([200, 503]));
    for (const number of refused) expect(await deliverTo(server, number)).toBe(200);
    expect(await keysOnServer(database.url)).toEqual(keys);
    expect(await server.stop()).toBe(0);
  },
  60_000,
);
