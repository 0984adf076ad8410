import { describe, expect, test } from "bun:test";

import { type Write, write } from "../../../src/db/statement.ts";
import type { Storage } from "../../../src/db/storage.ts";
import { insertEvent } from "../../../src/event/events.sql.ts";
import { insertDeliveries } from "../../../src/outbound/model/deliveries.sql.ts";
import type { Destination } from "../../../src/outbound/model/destination.ts";
import { json } from "../../support/app.ts";
import { post } from "../../support/flights.ts";
import { listed } from "../../support/operator.ts";
import { deliveryRow, destinationNumber, eventRow, notificationRow } from "../../support/rows.ts";
import { appPerTest } from "../../support/running-app.ts";
import { turns } from "../../support/turns.ts";

const app = appPerTest({
  DATABASE_URL: "sqlite::memory:",
  DESTINATIONS_ALLOW_PRIVATE: "true",
});

async function newDestination(
  name: string,
  role: "admin" | "user" = "admin",
): Promise<Destination["id"]> {
  const body = { name, format: "json", url: "http://127.0.0.1:1099/" };
  const made = await json(await app.as(role, "/v1/destinations", post(body)));
  return `dst_${String(made["id"]).slice(4)}`;
}

let stored = 0;
/** Stores dead deliveries to a destination, each with a cause of its own. */
async function kill(id: Destination["id"], count: number) {
  const destination = await destinationNumber(app.services.storage, id);
  const writes = Array.from({ length: count }, (): readonly Write<unknown>[] => {
    stored += 1;
    const dead = { destination, status: "dead", lastError: `cause ${stored}` } as const;
    const delivery = deliveryRow(notificationRow(stored), dead);
    return [
      write(insertEvent, eventRow(stored)),
      write(insertDeliveries, { deliveries: [delivery] }),
    ];
  });
  await app.services.storage.atomically(...writes.flat());
}

/** Runs requests, and returns how many reads of deliveries were made in each turn of the event loop that had one. */
async function readsPerTurn(requests: () => Promise<unknown>): Promise<readonly number[]> {
  const { storage } = app.services;
  const all = storage.all.bind(storage);
  const reads = new Map<number, number>();
  using turn = turns();
  const counted: Storage["all"] = (statement, values) => {
    if ("destinationId" in values) reads.set(turn.now(), (reads.get(turn.now()) ?? 0) + 1);
    return all(statement, values);
  };
  storage.all = counted;
  try {
    await requests();
  } finally {
    storage.all = all;
  }
  return [...reads.values()];
}

describe("in a storm of failures", () => {
  test("the list of issues reads each destination in its own turn of the event loop", async () => {
    for (const name of ["a", "b", "c"]) await kill(await newDestination(name), 3);
    const lists = () => Promise.all([listed(app, "/v1/issues"), listed(app, "/v1/issues")]);
    // Two lists of three destinations, of each the dead and the waiting deliveries.
    expect(await readsPerTurn(lists)).toEqual([2, 2, 2, 2, 2, 2]);
  });

  test("a retry reads each batch in its own turn of the event loop", async () => {
    const destination = await newDestination("a");
    await kill(destination, 1_001);
    const issue = (await listed(app, "/v1/issues")).find(
      ({ cause }) => cause === `cause ${stored}`,
    );
    const path = `/v1/issues/${String(issue?.["id"])}/retry`;
    const reads = await readsPerTurn(async () => {
      const response = await app.as("operator", path, { method: "POST" });
      expect(await json(response)).toEqual({ retried: 1 });
    });
    // The issue, and three batches.
    expect(reads.slice(0, 4)).toEqual([2, 1, 1, 1]);
  });

  test("the list has the 50 causes of a destination that were seen last, and 200 in all", async () => {
    const first = await newDestination("first");
    await kill(first, 60);
    const last = stored;
    const newest = Array.from({ length: 50 }, (_, index) => `cause ${last - index}`);
    const causes = async () => (await listed(app, "/v1/issues")).map(({ cause }) => cause);
    expect(await causes()).toEqual(newest);
    await kill(await newDestination("own", "user"), 1);
    expect(await causes()).toEqual(newest);
    for (const name of ["b", "c", "d", "e"]) await kill(await newDestination(name), 60);
    expect(await causes()).toHaveLength(200);
  });
});
