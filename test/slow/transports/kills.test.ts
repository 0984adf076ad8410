import { expect, test } from "bun:test";

import { serverProgram } from "../../support/brokers.ts";
import { randomNumbers } from "../../support/random.ts";
import { skips } from "../../support/skips.ts";

import { playKills } from "./kills.ts";

const missing = (["rabbitmq", "nats", "redis"] as const).filter(
  (name) => serverProgram(name) === null,
);
const isSkipped = missing.map((name) => skips(`${name}-server is not installed`)).includes(true);

test.skipIf(isSkipped)(
  "killed together with the message systems, the program loses no notification",
  async () => {
    const { arrived, acknowledged, kills } = await playKills(
      400,
      1_000,
      randomNumbers(7),
      () => {},
    );
    expect(acknowledged).toBe(400);
    expect(kills + arrived.reduce((sum, { crashes }) => sum + crashes, 0)).toBeGreaterThan(0);
    expect(arrived.filter(({ missing }) => missing > 0)).toEqual([]);
    const once = arrived.filter(({ name }) => ["nats", "sqs", "s3"].includes(name));
    expect(once.filter(({ repeats }) => repeats > 0)).toEqual([]);
  },
  300_000,
);
