import { describe, expect, test } from "bun:test";

import { noOutages, playOutages } from "./outages.ts";
import { skips } from "../../support/skips.ts";

describe.skipIf(skips(noOutages))("two instances behind the balancer", () => {
  test("one is killed, the database crashes, a standby takes over: nothing acknowledged is lost, no seat sold twice, all is notified", async () => {
    const report = await playOutages({ acknowledgements: 150, waitsForLeases: false });
    expect(report.acknowledged).toBeGreaterThanOrEqual(600);
  }, 120_000);
});
