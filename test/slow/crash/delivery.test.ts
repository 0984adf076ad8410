import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { keyOf } from "../../support/load.ts";

import type { CrashPoint } from "./crash-point.ts";
import { databases } from "./databases.ts";
import { deliver } from "./requests.ts";
import { CrashService } from "./service.ts";

const claim = `update "deliveries" set "leased_until"`;
const record = `insert into "attempts"`;

/** Where the process is killed, and how often the gateway is notified before that and in total. */
const steps: readonly (readonly [string, CrashPoint, number, number])[] = [
  ["before the claim is committed", { moment: "before commit", sql: claim }, 0, 1],
  ["after the claim is committed", { moment: "after commit", sql: claim }, 0, 1],
  ["after the answer, before it is recorded", { moment: "before commit", sql: record }, 1, 2],
  ["after the answer is recorded", { moment: "after commit", sql: record }, 1, 1],
];

describe.each(databases())("a notification on $name, killed", (kind) => {
  let service: CrashService;
  let number = 0;
  beforeAll(async () => {
    service = await CrashService.open(kind, []);
  });
  afterAll(() => service.end());

  const told = () => service.notified().get(keyOf(number)) ?? [];
  const status = async () => {
    const [row] = await service.left(
      `select n.status from notifications n join events e on e.id = n.event_id
       where e.idempotency_key = '${keyOf(number)}'`,
    );
    return row?.["status"];
  };

  /** Waits until a later notification was sent, so that all earlier ones were sent again. */
  async function allSent(): Promise<void> {
    await service.settled();
    expect((await deliver(await service.running(), 1_000 + number))?.status).toBe(200);
    await service.settled();
    expect(service.notified().get(keyOf(1_000 + number))).toHaveLength(1);
  }

  test.each(steps)("%s is sent at least once, under one id", async (_, point, before, inAll) => {
    number += 1;
    const server = await service.running();
    service.crashAt(point);
    // The delivery is stored, but the process may die before it is acknowledged.
    await deliver(server, number);
    await service.crashed();
    expect(told()).toHaveLength(before);
    expect(await status()).toBe(before === inAll ? "delivered" : "pending");

    await allSent();
    expect(told()).toHaveLength(inAll);
    expect(new Set(told()).size).toBe(1);
  });

  test("before the gateway has answered is sent again, under the same id", async () => {
    number += 1;
    const held = service.holdNextNotification();
    expect((await deliver(await service.running(), number))?.status).toBe(200);
    const id = await held;
    await service.kill();
    expect(await status()).toBe("pending");

    await allSent();
    expect(told()).toEqual([id, id]);
  });
});
