import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { until } from "../../../support/app.ts";
import { everything, secretOf } from "../../../support/cli.ts";
import { csvOf } from "../../../support/flights-csv.ts";
import { runSkyhook, spawnSkyhook } from "../../../support/program.ts";
import { resources } from "../../../support/resources.ts";

const taken = resources();
const flights = 10_000;
const dayMinutes = 1_440;

/** The same flights, each with its arrival so many minutes later. */
const file = (later: number) =>
  csvOf(
    Array.from({ length: flights }, (_, n) => ({
      flightNumber: `SK${(n % 9_000) + 1}`,
      inDays: 30 + n / dayMinutes,
      lastsDays: (420 + later) / dayMinutes,
    })),
  );

test("an import lets a server store every webhook, and completes after it was killed", async () => {
  const cwd = taken.newFolder();
  const server = await taken.serve({ cwd, env: everything });
  for (const later of [0, 5]) writeFileSync(join(cwd, `${later}.csv`), `${file(later)}\n`);
  const statuses: Promise<number>[] = [];
  const send = () => {
    const body = `{"event_name":"item:added","event_data":{"id":"${statuses.length}","content":"a"}}`;
    const mac = createHmac("sha256", secretOf("task_tracker")).update(body).digest("base64");
    const headers = { "x-tasktracker-hmac-sha256": mac, "content-type": "application/json" };
    const url = `${server.url}/webhooks/task_tracker`;
    statuses.push(
      fetch(url, { method: "POST", headers, body }).then(
        ({ status }) => status,
        () => 0,
      ),
    );
  };
  const sending = setInterval(send, 50);
  try {
    const imported = { out: `${flights} flights imported\n`, code: 0 };
    expect(await runSkyhook(["import", "0.csv"], server)).toMatchObject(imported);
    using database = new Database(join(cwd, "data/skyhook.db"), { readonly: true });
    const changed = () =>
      Number(
        database
          .query("select count(*) from flights where arrival_time - departure_time = 425 * 60000")
          .values()[0]?.[0],
      );
    const first = spawnSkyhook(["import", "5.csv"], server);
    await until(() => changed() > 0, 60_000);
    first.kill("SIGKILL");
    await first.exited;
    expect(changed()).toBeLessThan(flights);
    const again = await runSkyhook(["import", "5.csv"], server);
    expect(again.out).toMatch(/^10000 flights imported\n\d+ flights changed, 0 cancelled\n$/);
    expect(changed()).toBe(flights);
  } finally {
    clearInterval(sending);
  }
  expect(new Set(await Promise.all(statuses))).toEqual(new Set([200]));
}, 120_000);
