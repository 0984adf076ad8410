import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { until } from "../../support/app.ts";
import { asOperator } from "../../support/load.ts";
import { itemsOf } from "../../support/operator.ts";

import type { CrashPoint } from "./crash-point.ts";
import { databases } from "./databases.ts";
import { deliver } from "./requests.ts";
import { CrashService } from "./service.ts";

/** The statement that indexes new events. */
const sqlOn = (database: string) =>
  database === "SQLite" ? `update "search_progress"` : "index_queued";
/** When the process is killed, and how many events are not indexed by then. On PostgreSQL, a batch is one statement. */
const stepsOn = (database: string): readonly (readonly [string, CrashPoint["moment"], number])[] =>
  database === "SQLite"
    ? [
        ["after a batch is indexed", "after statement", 1],
        ["before the commit of a batch", "before commit", 1],
        ["after the commit of a batch", "after commit", 0],
      ]
    : [["after a batch is indexed", "after statement", 0]];

describe.each(databases())("the search index on $name, killed", (kind) => {
  let service: CrashService;
  let number = 0;
  beforeAll(async () => {
    service = await CrashService.open(kind, []);
  });
  afterAll(() => service.end());

  test.each(stepsOn(kind.name))(
    "%s, catches up and has each event once",
    async (_, moment, queued) => {
      number += 1;
      const first = await service.running();
      service.crashAt({ moment, sql: sqlOn(kind.name) });
      // The process may die before it answers: the database has the id of the event.
      await deliver(first, number);
      await service.crashed();
      const left = await service.left(
        "select id from events where id not in (select id from event_states)",
      );
      expect(left.length).toBeGreaterThanOrEqual(queued);

      const server = await service.running();
      await service.settled();
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
      await service.stop();
      const [states] = await service.left(
        "select count(*) as indexed, count(distinct id) as events from event_states",
      );
      expect([Number(states?.["indexed"]), Number(states?.["events"])]).toEqual([number, number]);
      expect(await service.left("select seq from search_queue")).toEqual([]);
    },
  );
});
