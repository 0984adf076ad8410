import { describe, expect, test } from "bun:test";

import { noOutages, playOutages } from "./outages.ts";
import { skips } from "../../support/skips.ts";

describe.skipIf(skips(noOutages))("two instances behind the balancer", () => {
  test("lose nothing acknowledged, sell no seat twice and send all notifications through a kill, a database crash and a failover", async () => {
    const report = await playOutages({ acknowledgements: 150, waitsForLeases: false });
    expect(report.acknowledged).toBeGreaterThanOrEqual(600);
  }, 120_000);
});
