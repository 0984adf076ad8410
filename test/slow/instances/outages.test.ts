import { describe, expect, test } from "bun:test";

import { noOutages, playOutages } from "./outages.ts";

if (noOutages !== null) console.log(`skipped, two instances through outages: ${noOutages}`);

describe.skipIf(noOutages !== null)("two instances behind the balancer", () => {
  test("one is killed, the database crashes, a standby takes over: nothing acknowledged is lost, no seat sold twice, all is notified", async () => {
    const report = await playOutages({ acknowledgements: 150, waitsForLeases: false });
    expect(report.acknowledged).toBeGreaterThanOrEqual(600);
  }, 120_000);
});
