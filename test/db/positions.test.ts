import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";

import { idAt, placeIn, timeOfPosition } from "../../src/base/ids.ts";
import { openStorage } from "../../src/db/open.ts";
import { Place } from "../../src/db/place.ts";
import { write } from "../../src/db/statement.ts";
import type { Storage } from "../../src/db/storage.ts";
import { eventsAfter, newestPosition } from "../../src/event/event.sql.ts";
import { insertEvent } from "../../src/event/events.sql.ts";
import { schema } from "../../src/schema/schema.ts";
import { noManyConnections, postgresDatabase } from "../support/databases.ts";
import { removeFolder, temporaryFolder } from "../support/program.ts";
import { eventRow } from "../support/rows.ts";
import { skips } from "../support/skips.ts";

test.each([
  ["evt", 0, 0],
  ["evt", 1_838_304_460_800_001, 2 ** 52 - 1],
  ["ntf", Number.MAX_SAFE_INTEGER, 1],
] as const)(
  "an id of %s is made of its position and tail, and found by them",
  (prefix, position, tail) => {
    const id = idAt(prefix, position, tail);
    expect(id).toMatch(/^\w{3}_[0-9a-f]{12}7[0-9a-f]{3}8[0-9a-f]{15}$/);
    expect(placeIn(prefix, id)).toEqual({ position, tail });
  },
);

test.each([
  "evt_1",
  "evt_01a1fb67180070018000000000000001",
  `evt_${"0".repeat(32)}`,
  `evt_${"z".repeat(32)}`,
  "evt_",
])("%s is no id of a position", (id) => expect(placeIn("evt", id)).toBeNull());

const folder = temporaryFolder();
afterAll(() => removeFolder(folder));

/** New databases, which several processes can open. */
let files = 0;
const databases = {
  sqlite: async () => {
    const url = `sqlite:${join(folder, `${(files += 1)}.db`)}`;
    return { url, end: async () => {} };
  },
  postgres: async () => {
    const database = await postgresDatabase();
    return { url: database.url, end: () => database[Symbol.asyncDispose]() };
  },
};

describe.each(["sqlite", "postgres"] as const)("positions on %s", (dialect) => {
  const isSkipped = dialect === "postgres" && skips(noManyConnections);

  test.skipIf(isSkipped)(
    "are those of commits, in two processes whose clocks differ by a year",
    async () => {
      const { url, end } = await databases[dialect]();
      const storages = await Promise.all([openStorage(schema, url), openStorage(schema, url)]);
      const now = Date.UTC(2026, 10, 21);
      const year = 365 * 86_400_000;
      const seen: number[] = [];
      let last = 0;
      const follow = async ([reader]: readonly Storage[]) => {
        const [newest] = (await reader?.all(newestPosition, {})) ?? [];
        const range = { seq: last, until: newest?.position ?? 0, limit: 1_000 };
        for (const { seq } of (await reader?.all(eventsAfter, range)) ?? []) {
          seen.push(seq);
          last = seq;
        }
      };
      try {
        for (let round = 0; round < 20; round += 1) {
          await Promise.all(
            storages.flatMap((storage, process) =>
              [0, 1, 2].map((n) => {
                const number = 1 + round * 6 + process * 3 + n;
                const place = new Place(now + round + process * year, number);
                return storage.atomically(write(insertEvent, eventRow(number, { place })));
              }),
            ),
          );
          await follow(storages);
        }
        // A reader that followed has missed none, and saw each once.
        expect(seen).toHaveLength(120);
        expect(seen).toEqual([...new Set(seen)].toSorted((one, other) => one - other));
        // The clock of one is a year ahead. The other goes on from there.
        expect(timeOfPosition(seen.at(-1) ?? 0).getTime()).toBe(now + 19 + year);
      } finally {
        await Promise.all(storages.map((storage) => storage.close()));
        await end();
      }
    },
    60_000,
  );

  test.skipIf(isSkipped)(
    "do not run ahead of the clock, however late some events are",
    async () => {
      const { url, end } = await databases[dialect]();
      const storage = await openStorage(schema, url);
      // Later than what the other test left.
      const now = Date.UTC(2028, 10, 21);
      const store = (number: number, atMs: number) =>
        write(insertEvent, eventRow(number, { place: new Place(atMs, number) }));
      try {
        for (let round = 0; round < 20; round += 1) {
          const number = 1_000 + round * 2;
          await storage.atomically(store(number, now - 9_000), store(number + 1, now));
        }
        const [newest] = await storage.all(newestPosition, {});
        expect(timeOfPosition(newest?.position ?? 0).getTime()).toBe(now);
      } finally {
        await storage.close();
        await end();
      }
    },
  );
});
