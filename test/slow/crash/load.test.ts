import { describe, expect, test } from "bun:test";

import { compiledProgram } from "../../support/program.ts";

import { type CrashDatabases, databases } from "./databases.ts";
import { Ledger, ledgerSeats } from "./ledger.ts";
import { type Death, deathsOn, endRounds, outside, playRound } from "./rounds.ts";
import { CrashService } from "./service.ts";

const named = (kind: CrashDatabases, name: string): Death => {
  const death = deathsOn(kind).find((candidate) => candidate.name === name);
  if (death === undefined) throw new Error(`No death ${name}`);
  return death;
};

describe.each(databases())("kill -9 under load on $name", (kind) => {
  test("loses nothing acknowledged, does nothing twice, and sends all notifications", async () => {
    const service = await CrashService.open(kind, ledgerSeats);
    try {
      const ledger = new Ledger();
      // Crash points work only in the source; the compiled program is killed from outside as often.
      const inside =
        compiledProgram === null
          ? [
              named(kind, "before the commit of a booking"),
              named(kind, "in the middle of a payment"),
              named(kind, "after the commit of a delivery"),
              kind.commitsElsewhere ? named(kind, "during the commit of a booking") : outside,
            ]
          : [outside, outside, outside, outside];
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
