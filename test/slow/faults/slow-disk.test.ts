import { describe, expect, test } from "bun:test";

import { until } from "../../support/app.ts";
import {
  asOperator,
  databaseIn,
  deliverTo,
  integrityOf,
  keyOf,
  keysListed,
} from "../../support/load.ts";
import { resources } from "../../support/resources.ts";
import { skips } from "../../support/skips.ts";
import { slowDisk, whyNoSlowDisk } from "../../support/slow-disk.ts";
import { statusOf } from "../../support/unavailable.ts";

const taken = resources();

describe.skipIf(skips(whyNoSlowDisk))("a disk that does not finish a sync", () => {
  async function started() {
    const disk = slowDisk(taken);
    const folder = taken.newFolder();
    const server = await taken.start(folder, disk.env);
    expect(await deliverTo(server, 1)).toBe(200);
    return { disk, folder, server };
  }

  test("delays only writes: reads, pages and metrics are answered meanwhile [DB-22]", async () => {
    const { disk, server } = await started();
    disk.stop();
    let answered = 0;
    const writes = [2, 3, 4].map(async (number) => {
      const status = await deliverTo(server, number);
      answered += 1;
      return status;
    });
    await until(() => disk.isWaitedFor());
    expect((await asOperator(server, "/v1/events")).status).toBe(200);
    expect(await statusOf(server, "/livez")).toBe(200);
    expect(await statusOf(server, "/metrics")).toBe(200);
    // Not acknowledged, so not shown either.
    expect(await keysListed(server)).toEqual([keyOf(1)]);
    expect(answered).toBe(0);
    disk.resume();
    expect(await Promise.all(writes)).toEqual([200, 200, 200]);
    expect((await keysListed(server)).toSorted()).toEqual([1, 2, 3, 4].map(keyOf));
  });

  test("does not prevent a stop: SIGTERM ends the process within 10 s, and nothing acknowledged is lost [DB-23]", async () => {
    const { disk, folder, server } = await started();
    disk.stop();
    const write = deliverTo(server, 2);
    await until(() => disk.isWaitedFor());
    // The service kills itself after 9.5 s, before a supervisor does: 128 + SIGKILL.
    expect(await server.stop()).toBe(137);
    expect(await write).not.toBe(200);
    disk.resume();
    expect(integrityOf(databaseIn(folder))).toBe("ok");
    expect(await keysListed(await taken.start(folder))).toContain(keyOf(1));
  });
});
