import { describe, expect, setDefaultTimeout, test } from "bun:test";

import { compiledProgram } from "../../support/program.ts";

import { type CrashDatabases, databases } from "./databases.ts";
import { Ledger, ledgerSeats } from "./ledger.ts";
import { type Death, deathsOn, endRounds, outside, playRound } from "./rounds.ts";
import { CrashService } from "./service.ts";

// Every wait has a bound of its own; this is for a machine that is busy.
setDefaultTimeout(60_000);

const named = (kind: CrashDatabases, name: string): Death => {
  const death = deathsOn(kind).find((candidate) => candidate.name === name);
  if (death === undefined) throw new Error(`No death ${name}`);
  return death;
};

describe.each(databases())("kill -9 under load on $name", (kind) => {
  test("loses nothing that was acknowledged, does nothing twice, and notifies of everything", async () => {
    const service = await CrashService.open(kind, ledgerSeats);
    try {
      const ledger = new Ledger();
      // Only the source can be told to die at a point of its own; the compiled program is killed as often.
      const inside =
        compiledProgram === null
          ? [
              named(kind, "before the commit of a booking"),
              named(kind, "after the commit of a delivery"),
              kind.commitsElsewhere ? named(kind, "during the commit of a booking") : outside,
            ]
          : [outside, outside, outside];
      const ways = [outside, ...inside];
      for (const way of ways) {
        const { unanswered } = await playRound(service, ledger, way);
        expect(unanswered).toBeGreaterThan(0);
      }
      expect(await endRounds(service, ledger)).toBeGreaterThanOrEqual(2);
    } finally {
      await service.end();
    }
  });
});
