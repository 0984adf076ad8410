import { describe, expect, setDefaultTimeout, test } from "bun:test";

import { compiledProgram } from "../../support/program.ts";
import { sampleOf } from "../../support/runs.ts";

import { type CrashDatabases, databases } from "./databases.ts";
import { Ledger, ledgerSeats, workersOfFleet } from "./ledger.ts";
import { type Death, deathsOn, endRounds, outside, playRound } from "./rounds.ts";
import { CrashService } from "./service.ts";

// By night, and on a busy machine.
setDefaultTimeout(300_000);

/**
 * From outside and at one point, which differs from run to run; by night at all points. Crash points work only in the source;
 * the compiled program is killed from outside as often.
 */
function deathsOf(kind: CrashDatabases): readonly Death[] {
  if (compiledProgram !== null) return [outside, outside];
  const names = [
    "before the commit of a claim of notifications",
    "after the commit of a delivery",
    "before the commit of an attempt to notify",
  ];
  const chosen = sampleOf(names, 1);
  return [outside, ...deathsOn(kind).filter(({ name }) => chosen.includes(name))];
}

describe.each(databases())("fifty destinations of mixed health on $name", (kind) => {
  test("each receive what they match, in order where asked, and nothing else, through kill -9", async () => {
    const service = await CrashService.open(kind, ledgerSeats, { withFleet: true });
    try {
      const ledger = new Ledger({ workers: workersOfFleet });
      for (const death of deathsOf(kind)) await playRound(service, ledger, death);
      await endRounds(service, ledger);
      expect(service.fleet?.requests).toBeGreaterThan(ledger.acknowledged * 30);
    } finally {
      await service.end();
    }
  });
});
