import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { until } from "../../support/app.ts";
import { asOperator } from "../../support/load.ts";
import { itemsOf } from "../../support/operator.ts";
import { deliver } from "../harness/clients.ts";
import { databases } from "../harness/databases.ts";
import { World } from "../harness/world.ts";

/** The statement that indexes events. */
const sql = 'insert into "event_words"';
/** When the process is killed, and how many events are not indexed by then. */
const steps = [
  ["after a batch is indexed", "after statement", 1],
  ["before the commit of a batch", "before commit", 1],
  ["after the commit of a batch", "after commit", 0],
] as const;

describe.each(databases())("the search index on $name, killed", (kind) => {
  let world: World;
  let number = 0;
  beforeAll(async () => {
    world = await World.open(kind, { dies: true });
  });
  afterAll(() => world.end());

  test.each(steps)("%s, catches up and has each event once", async (_, moment, behind) => {
    number += 1;
    const first = await world.running();
    world.crashAt({ moment, sql });
    // The process may die before it answers: the database has the id of the event.
    await deliver(first, number);
    await world.crashed();
    const left = await world.left(
      "select position from events where position not in (select rowid from event_words)",
    );
    expect(left.length).toBeGreaterThanOrEqual(behind);

    const server = await world.running();
    await world.settled();
    const found = async (query: string): Promise<unknown[]> => {
      const response = await asOperator(server, `/v1/events?${query}&limit=100`);
      const { data }: { data: unknown } = JSON.parse(await response.text());
      return itemsOf(data).map((event) => event["id"]);
    };
    const all = await found("provider=task_tracker");
    expect(all).toHaveLength(number);
    expect(await found("q=task*")).toEqual(all);
    // The notification may have been delivered after the index was built.
    await until(async () => (await found("delivery=delivered")).length === number);
    await world.stop();
    const [words] = await world.left(
      "select count(*) as indexed, count(distinct rowid) as events from event_words",
    );
    expect([Number(words?.["indexed"]), Number(words?.["events"])]).toEqual([number, number]);
    expect(await world.left("select position from events where changes > 0")).toEqual([]);
  });
});
