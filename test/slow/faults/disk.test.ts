import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { until } from "../../support/app.ts";
import {
  limitedFiles,
  mountedDisk,
  run,
  type SmallDisk,
  whyNoLimit,
  whyNoMount,
} from "../../support/disk.ts";
import {
  asOperator,
  databaseIn,
  deliverTo,
  integrityOf,
  keyOf,
  keysListed,
} from "../../support/load.ts";
import { runSkyhook } from "../../support/program.ts";
import { resources } from "../../support/resources.ts";
import { skips } from "../../support/skips.ts";
import { expectUnavailable, statusOf } from "../../support/unavailable.ts";

const taken = resources();

describe("a full disk", () => {
  test.skipIf(skips(whyNoMount))("answers 503, and recovers when space is freed [DB-1]", () =>
    fillAndFree(mountedDisk(taken), "The disk is full: free disk space"),
  );

  test.skipIf(skips(whyNoLimit))(
    "answers 503 and recovers when the disk reports another error [DB-2]",
    () => fillAndFree(limitedFiles(taken), "The disk failed or is full: free disk space"),
  );

  async function fillAndFree(disk: SmallDisk, advice: string): Promise<void> {
    const { folder, through } = disk;
    const server = await taken.start(folder, {}, { through });
    const acknowledged: number[] = [];
    const refused: number[] = [];
    const deliver = async (number: number) => {
      const status = await deliverTo(server, number, 8_000);
      if (status === 200) acknowledged.push(number);
      else refused.push(number);
      return status;
    };
    for (let number = 1; number <= 20; number += 1) expect(await deliver(number)).toBe(200);
    disk.fill(server, 200_000);
    // A webhook can fail by a larger batch of the search index in the same commit, while there is room for the next one.
    for (let number = 21, failed = 0; failed < 20 && number < 400; number += 1) {
      failed = (await deliver(number)) === 200 ? 0 : failed + 1;
    }
    expect(acknowledged.length).toBeGreaterThan(20);

    await expectUnavailable(server, 1_000, 8_000);
    refused.push(1_000);
    const burst = Array.from({ length: 50 }, (_, index) => 2_000 + index);
    expect(await Promise.all(burst.map(deliver))).toEqual(burst.map(() => 503));
    expect(await statusOf(server, "/livez")).toBe(200);
    // A commit of one page, such as that of an index, may still fit, and makes the server ready until the next error.
    await until(async () => {
      await expectUnavailable(server, 1_000, 8_000);
      return (await statusOf(server, "/readyz")) === 503;
    });
    expect((await asOperator(server, "/v1/events")).status).toBe(200);
    await server.printed(advice);

    disk.free(server);
    for (const number of refused.splice(0)) expect(await deliver(number)).toBe(200);
    expect(await statusOf(server, "/readyz")).toBe(200);
    expect((await keysListed(server)).toSorted()).toEqual(acknowledged.map(keyOf).toSorted());
    expect(await server.stop()).toBe(0);
    expect(integrityOf(databaseIn(folder))).toBe("ok");
  }
});

describe.skipIf(skips(whyNoMount))("a start", () => {
  const startOn = (folder: string) =>
    runSkyhook(["serve"], { cwd: folder, env: { DATA_DIR: join(folder, "data") } });

  test("fails with one line on a full disk, and succeeds once there is space [DB-3]", async () => {
    const { folder, ...disk } = mountedDisk(taken);
    writeFileSync(join(folder, "ballast"), "");
    run(["sh", "-c", `dd if=/dev/zero of=${folder}/ballast 2>/dev/null || true`]);
    const { out, err, code } = await startOn(folder);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(/^skyhook: .*(disk and its free space|make both writable)[^\n]*\n$/);
    run(["rm", `${folder}/ballast`]);
    const server = await taken.start(folder, {}, disk);
    expect(await deliverTo(server, 1)).toBe(200);
  });

  test("fails with one line on a read-only disk, and succeeds once it is writable [DB-4]", async () => {
    const { folder } = mountedDisk(taken);
    const first = await taken.start(folder);
    expect(await deliverTo(first, 1)).toBe(200);
    expect(await first.stop()).toBe(0);
    run(["mount", "-o", "remount,ro", folder]);
    const { out, err, code } = await startOn(folder);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(
      /^skyhook: .*make both writable for this user, or change DATABASE_URL [^\n]*\n$/,
    );
    run(["mount", "-o", "remount,rw", folder]);
    const server = await taken.start(folder);
    expect(await keysListed(server)).toEqual([keyOf(1)]);
    expect(await deliverTo(server, 2)).toBe(200);
  });
});
