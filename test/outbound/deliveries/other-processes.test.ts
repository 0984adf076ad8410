import { expect, test } from "bun:test";

import { write } from "../../../src/db/statement.ts";
import { insertEvent } from "../../../src/event/events.sql.ts";
import { operatorGateway } from "../../../src/outbound/model/destination.ts";
import { insertDestination } from "../../../src/outbound/model/destinations.sql.ts";
import { type TestApp, until } from "../../support/app.ts";
import { resources } from "../../support/resources.ts";
import {
  destinationNumber,
  destinationRow,
  eventRow,
  notificationRow,
  sentWrites,
} from "../../support/rows.ts";

const taken = resources();

async function transactions(app: TestApp): Promise<number> {
  const text = await (await app.fetch("/metrics")).text();
  return Number(/^skyhook_storage_commit_transactions_sum (\d+)$/m.exec(text)?.[1]);
}

test("a delivery that another process stored wakes its destination only", async () => {
  const url = `sqlite:${taken.newFile()}`;
  const other = await taken.storage(url);
  const ofUsers = 100;
  for (let n = 1; n <= ofUsers; n += 1) {
    await other.atomically(
      write(
        insertDestination,
        destinationRow(n, { name: "own", ownerId: `user-${n}`, state: "active" }),
      ),
    );
  }
  const gateway = taken.gateway();
  const app = await taken.app({ DATABASE_URL: url, ...gateway.env });
  // Each queue has looked for work after the start.
  await until(async () => (await transactions(app)) > ofUsers);
  const before = await transactions(app);
  const destination = await destinationNumber(other, operatorGateway.id);
  const sent = { destination, dueAt: new Date(app.clock.now()) };
  await other.atomically(write(insertEvent, eventRow(1)), ...sentWrites(notificationRow(1), sent));
  app.clock.advance(2_000);
  await until(() => gateway.received.length === 1);
  expect((await transactions(app)) - before).toBeLessThan(ofUsers / 2);
});
