import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { keyOf } from "../../support/load.ts";

import type { CrashPoint } from "./crash-point.ts";
import { databases } from "./databases.ts";
import { deliver } from "./requests.ts";
import { CrashService } from "./service.ts";

const sql = `insert into "events"`;

/** Where the process is killed, and whether the delivery is already stored. */
const steps: readonly (readonly [string, CrashPoint, boolean])[] = [
  ["after the event is written", { moment: "after statement", sql }, false],
  ["before the commit", { moment: "before commit", sql }, false],
  ["after the commit, before the answer", { moment: "after commit", sql }, true],
];

describe.each(databases())("a delivery on $name, killed", (kind) => {
  let service: CrashService;
  let number = 0;
  beforeAll(async () => {
    service = await CrashService.open(kind, []);
  });
  afterAll(() => service.end());

  test.each(steps)("%s is stored once by the retry, and notified", async (_, point, isStored) => {
    number += 1;
    const server = await service.running();
    service.crashAt(point);
    expect(await deliver(server, number)).toBeNull();
    await service.crashed();
    const left = await service.left(
      `select id from events where idempotency_key = '${keyOf(number)}'`,
    );
    expect(left).toHaveLength(isStored ? 1 : 0);

    const retried = await deliver(await service.running(), number);
    expect(retried?.status).toBe(200);
    expect(retried?.body).toMatchObject({
      status: isStored ? "duplicate" : "accepted",
      ...left[0],
    });
    await service.settled();
    expect(service.notified().get(keyOf(number))).toHaveLength(1);
  });

  test("several times is stored once", async () => {
    await service.stop();
    const stored = await service.left("select idempotency_key as key from events order by id");
    expect(stored.map(({ key }) => key)).toEqual(steps.map((_, index) => keyOf(index + 1)));
  });
});
