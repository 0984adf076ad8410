import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { noObserver, openStorage } from "../../../src/db/open.ts";
import { groupCommit } from "../../../src/db/sqlite/group-commit.ts";
import { inlineWriter } from "../../../src/db/sqlite/writer.ts";
import { write } from "../../../src/db/statement.ts";
import { insertEvent } from "../../../src/event/events.sql.ts";
import { schema } from "../../../src/schema/schema.ts";
import { json } from "../../support/app.ts";
import { failure } from "../../support/failure.ts";
import { resources } from "../../support/resources.ts";
import { eventRow, openedBeside } from "../../support/rows.ts";

const taken = resources();
const newFolder = () => taken.newFolder();

describe("transactions", () => {
  const newFile = () => join(newFolder(), "skyhook.db");

  test("that wait for a lock are committed in order by close, and later ones are rejected", async () => {
    const file = newFile();
    const storage = await openStorage(schema, `sqlite:${file}`);
    using other = openedBeside(file);
    other.run("begin immediate");
    const waiting = [1, 2, 3].map((n) => storage.atomically(write(insertEvent, eventRow(n))));
    const closing = storage.close();
    expect(await failure(storage.atomically(write(insertEvent, eventRow(4))))).toMatchObject({
      code: "unavailable",
    });
    setTimeout(() => other.run("rollback"), 50);
    for (const [result] of await Promise.all(waiting)) expect(result.changes).toBe(1);
    await closing;
    await storage.close();
    expect(other.query("select count(*) from events").values()).toEqual([[3]]);
  });

  test("all fail when the lock is not released, and close does not wait longer", async () => {
    const file = newFile();
    const storage = await openStorage(schema, `sqlite:${file}`);
    using other = openedBeside(file);
    other.run("begin immediate");
    const waiting = [1, 2, 3].map((n) =>
      failure(storage.atomically(write(insertEvent, eventRow(n)))),
    );
    const startMs = performance.now();
    await storage.close();
    expect(performance.now() - startMs).toBeLessThan(5_000);
    for (const refused of await Promise.all(waiting)) {
      expect(refused).toMatchObject({ code: "unavailable" });
    }
    other.run("rollback");
    expect(other.query("select count(*) from events").values()).toEqual([[0]]);
  });

  test("fail at once while 20,000 wait, and those are all committed [DB-17]", async () => {
    const file = newFile();
    const storage = await openStorage(schema, `sqlite:${file}`);
    using other = openedBeside(file);
    other.run("begin immediate");
    const waiting = Array.from({ length: 20_000 }, (_, index) =>
      storage.atomically(write(insertEvent, eventRow(index))),
    );
    expect(await failure(storage.atomically(write(insertEvent, eventRow(20_000))))).toMatchObject({
      code: "unavailable",
      detail: "Too many transactions are waiting",
    });
    other.run("rollback");
    await Promise.all(waiting);
    expect(other.query("select count(*) from events").values()).toEqual([[20_000]]);
    await storage.close();
  });

  test("succeed after a disk error that prevented even the rollback", async () => {
    using client = new Database(":memory:");
    const { atomically } = groupCommit(inlineWriter(client), noObserver);
    client.run("begin immediate");
    expect(await atomically()).toEqual([]);
    expect(client.inTransaction).toBe(false);
  });

  test("of a delivery and its concurrent duplicate store one event", async () => {
    const app = await taken.app({ DATABASE_URL: `sqlite:${newFile()}` });
    using other = openedBeside(app.services.config.databaseUrl.slice("sqlite:".length));
    other.run("begin immediate");
    const body = `{"event_name":"item:completed","event_data":{"id":"1"}}`;
    const answers = [1, 2, 3].map(() => app.deliver("task_tracker", body));
    setTimeout(() => other.run("rollback"), 50);
    const told = await Promise.all((await Promise.all(answers)).map(json));
    const statuses = told.map(({ status }) => String(status));
    expect(statuses.toSorted()).toEqual(["accepted", "duplicate", "duplicate"]);
  });
});
