import { describe, expect, test } from "bun:test";

import { skips } from "../../support/skips.ts";

import { noOutages, playOutages } from "./outages.ts";

describe.skipIf(skips(noOutages))("two instances behind the balancer", () => {
  test("lose nothing acknowledged, sell no seat twice and send all notifications through a kill, a database crash and a failover", async () => {
    const report = await playOutages({ acknowledgements: 150, waitsForLeases: false });
    expect(report.acknowledged).toBeGreaterThanOrEqual(600);
  }, 120_000);

  test("send each of fifty destinations of mixed health what it matches, and nothing else, through the same", async () => {
    const plan = { acknowledgements: 6, waitsForLeases: false, withFleet: true };
    const report = await playOutages(plan);
    expect(report.acknowledged).toBeGreaterThanOrEqual(24);
  }, 180_000);
});
