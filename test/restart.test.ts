import { expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";

import { until } from "./support/app.ts";
import { deliverTo, keyOf } from "./support/load.ts";
import { resources } from "./support/resources.ts";

const taken = resources();

/** The server's own tools; it refuses to run as root. */
const tools = Bun.which("pg_ctl") && Bun.which("initdb") ? "" : "pg_ctl and initdb are not there";
const asOther = process.getuid?.() === 0 ? ["runuser", "-u", "postgres", "--"] : [];
const skipped = tools || (asOther.length > 0 && !Bun.which("runuser") ? "this is root" : "");
if (skipped !== "") console.log(`skipped, needs a PostgreSQL server of its own: ${skipped}`);

/** A server of its own in a folder, on a free port. */
async function ownServer() {
  const folder = taken.newFolder();
  chmodSync(folder, 0o777);
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  listener.stop(true);
  const { port } = listener;
  const data = join(folder, "server");
  const run = async (...command: string[]) => {
    // Its output goes to a file: what the server inherits of ours would keep us waiting.
    const child = Bun.spawn([...asOther, ...command], {
      cwd: folder,
      stdout: "ignore",
      stderr: "ignore",
    });
    expect(await child.exited).toBe(0);
  };
  const ctl = (...args: string[]) =>
    run("pg_ctl", "-D", data, "-w", "-t", "20", "-l", join(folder, "log"), ...args);
  const options = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1`;
  await run("initdb", "-D", data, "-U", "postgres", "-A", "trust", "--no-sync");
  await ctl("-o", options, "start");
  taken.ends.push(() => ctl("-m", "immediate", "stop"));
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    crash: () => ctl("-m", "immediate", "stop"),
    start: () => ctl("-o", options, "start"),
  };
}

test.skipIf(skipped !== "")(
  "a database server that crashes under load loses nothing acknowledged, and is found again",
  async () => {
    const database = await ownServer();
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
