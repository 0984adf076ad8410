import { describe, expect, test } from "bun:test";

import { openStorage } from "../../../../src/db/open.ts";
import { write } from "../../../../src/db/statement.ts";
import { eventById } from "../../../../src/event/event.sql.ts";
import { countDuplicate, insertEvent } from "../../../../src/event/events.sql.ts";
import { schema } from "../../../../src/schema/schema.ts";
import { noManyConnections } from "../../../support/databases.ts";
import { failure } from "../../../support/failure.ts";
import { eventRow } from "../../../support/rows.ts";
import { skips } from "../../../support/skips.ts";

import { limits, sharedDatabase } from "./shared-database.ts";

const shared = sharedDatabase();

test("postgres: a server without disk space fails empty transactions too, until a timeout or a successful write [PG-9]", async () => {
  const storage = await shared.openEmpty();
  await storage.atomically();
  await shared.run(
    "create function full_disk() returns trigger language plpgsql as $$ begin raise exception using errcode = '53100'; end $$",
  );
  await shared.run("create trigger full_disk before insert on events execute function full_disk()");
  const insert = () => storage.atomically(write(insertEvent, eventRow(1)));
  try {
    expect(await failure(insert())).toMatchObject({ code: "unavailable" });
    expect(await failure(storage.atomically())).toMatchObject({ code: "unavailable" });
  } finally {
    await shared.run("drop function full_disk cascade");
  }
  await insert();
  await storage.atomically();
  await storage.close();
});

describe.skipIf(skips(noManyConnections))(
  "postgres: a database that accepts no connections",
  () => {
    test("is `unavailable`, for example during a restore, and recovers", async () => {
      const [role] = await shared.run(
        "select rolcreatedb or rolsuper as may from pg_roles where rolname = current_user",
      );
      const mayCreate = role?.["may"] === true;
      if (skips(mayCreate ? null : "the role of TEST_POSTGRES_URL may not create databases"))
        return;
      const name = `skyhook_closed_${crypto.randomUUID().replaceAll("-", "")}`;
      await shared.run(`create database ${name}`);
      try {
        const url = new URL(shared.url);
        url.pathname = `/${name}`;
        url.searchParams.delete("search_path");
        const storage = await openStorage(schema, url.href, { ...limits, retryMs: 0 });
        await storage.atomically(write(insertEvent, eventRow(1)));
        await shared.run(`alter database ${name} allow_connections false`);
        const cut = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`;
        await shared.run(cut);
        // The first of each may get a terminated connection, the others fail to connect.
        for (let n = 0; n < 6; n += 1) {
          const written = failure(storage.atomically(write(insertEvent, eventRow(2))));
          const read = failure(storage.all(eventById, { id: eventRow(1).id }));
          expect(await written).toMatchObject({ code: "unavailable" });
          expect(await read).toMatchObject({ code: "unavailable" });
        }
        await shared.run(`alter database ${name} allow_connections true`);
        await storage.atomically(write(insertEvent, eventRow(2)));
        await storage.close();
      } finally {
        await shared.run(`drop database ${name} with (force)`);
      }
    });
  },
);

describe("postgres: a server that stops answering", () => {
  const row = eventRow(1);
  const { id } = row;

  /** Opens all connections of the pool, and then stops all answers on them. */
  async function openAndSilence() {
    await shared.empty();
    const proxy = silencer(shared.url);
    const storage = await openStorage(schema, proxy.url, {
      ...limits,
      statementTimeoutMs: 100,
      retryMs: 0,
    });
    await storage.atomically(write(insertEvent, row));
    await Promise.all(Array.from({ length: 9 }, () => storage.all(eventById, { id })));
    proxy.silence();
    return { storage, proxy };
  }

  test("makes reads and writes `unavailable` after a timeout [PG-3]", async () => {
    const { storage, proxy } = await openAndSilence();
    const read = failure(storage.all(eventById, { id }));
    const written = failure(storage.atomically(write(insertEvent, eventRow(2))));
    expect(await read).toMatchObject({ code: "unavailable" });
    expect(await written).toMatchObject({ code: "unavailable" });
    proxy.stop(true);
    await storage.close();
  });

  test("may take the whole connect timeout, even with a short statement timeout", async () => {
    await shared.empty();
    // Longer than the answer timeout for such statements.
    const proxy = silencer(shared.url, 2_500);
    const brief = { ...limits, connectTimeoutMs: 10_000, statementTimeoutMs: 300 };
    await (await openStorage(schema, proxy.url, brief)).close();
    proxy.stop(true);
  }, 30_000);

  test.skipIf(skips(noManyConnections))(
    "is connected to again, since a new server may have its address",
    async () => {
      const { storage, proxy } = await openAndSilence();
      await Promise.all([
        failure(storage.all(eventById, { id })),
        failure(storage.atomically(write(insertEvent, eventRow(2)))),
      ]);
      const reads = Array.from({ length: 9 }, () => storage.all(eventById, { id }));
      expect((await Promise.all(reads)).flat()).toHaveLength(9);
      await storage.atomically(write(insertEvent, eventRow(3)));
      await storage.close();
      proxy.stop(true);
    },
  );
});

test.skipIf(skips(noManyConnections))(
  "postgres: a transaction whose connection breaks during its commit is not repeated",
  async () => {
    await shared.empty();
    const proxy = commitCutter(shared.url);
    const storage = await openStorage(schema, proxy.url, limits);
    const row = eventRow(1);
    const { id } = row;
    await storage.atomically(write(insertEvent, row));
    proxy.cutNextCommit();
    expect(await failure(storage.atomically(write(countDuplicate, { id })))).toMatchObject({
      code: "unavailable",
    });
    await storage.close();
    // The server has committed it; only the answer was lost.
    expect(await shared.run("select duplicates from events")).toEqual([{ duplicates: 1 }]);
    proxy.stop();
  },
);

/** A proxy. After `cutNextCommit`, it breaks the connection of the next COMMIT once the server has answered. */
function commitCutter(url: string) {
  const { hostname, port } = new URL(url);
  let isArmed = false;
  const proxy = Bun.listen<{ server: Promise<Bun.Socket>; isCut: boolean }>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(client) {
        const server = Bun.connect({
          hostname,
          port: Number(port),
          socket: {
            data: (_, bytes) => void (client.data.isCut ? client.terminate() : client.write(bytes)),
            close: () => void client.end(),
          },
        });
        client.data = { server, isCut: false };
      },
      async data({ data }, bytes) {
        // A simple query ends with a NUL.
        if (isArmed && bytes.includes("commit\0")) data.isCut = true;
        if (data.isCut) isArmed = false;
        const sent = Buffer.from(bytes);
        (await data.server).write(sent);
      },
      close: async ({ data }) => void (await data.server).end(),
    },
  });
  const through = new URL(url);
  through.port = String(proxy.port);
  return {
    url: through.href,
    cutNextCommit: () => void (isArmed = true),
    stop: () => proxy.stop(true),
  };
}

/** A proxy. `silence` drops all data on its open connections, without closing them. */
function silencer(url: string, acceptsAfterMs = 0) {
  const { hostname, port } = new URL(url);
  let newest = { silent: false };
  const proxy = Bun.listen<{ server: Bun.Socket | null; early: Buffer[]; line: typeof newest }>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      async open(client) {
        const line = newest;
        client.data = { server: null, early: [], line };
        await Bun.sleep(acceptsAfterMs);
        client.data.server = await Bun.connect({
          hostname,
          port: Number(port),
          socket: {
            data: (_, bytes) => void (line.silent || client.write(bytes)),
            close: () => void (line.silent || client.end()),
          },
        });
        for (const bytes of client.data.early) client.data.server.write(bytes);
      },
      data({ data }, bytes) {
        if (data.line.silent) return;
        if (data.server === null) data.early.push(Buffer.from(bytes));
        else data.server.write(bytes);
      },
      close: ({ data }) => void data.server?.end(),
    },
  });
  const through = new URL(url);
  through.port = String(proxy.port);
  return {
    url: through.href,
    silence() {
      newest.silent = true;
      newest = { silent: false };
    },
    stop: (closesAll: boolean) => proxy.stop(closesAll),
  };
}
