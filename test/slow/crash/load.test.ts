import { describe, expect, setDefaultTimeout, test } from "bun:test";

import { compiledProgram } from "../../support/program.ts";

import { type CrashDatabases, databases } from "./databases.ts";
import { Ledger, ledgerSeats } from "./ledger.ts";
import { type Death, deathsOn, endRounds, outside, playRound } from "./rounds.ts";
import { CrashService } from "./service.ts";

// All deaths, each of a new process.
setDefaultTimeout(300_000);

/** Crash points work only in the source; the compiled program is killed from outside as often. */
const deathsOf = (kind: CrashDatabases): readonly Death[] =>
  compiledProgram === null ? deathsOn(kind) : Array<Death>(5).fill(outside);

describe.each(databases())("kill -9 under load on $name", (kind) => {
  test("loses nothing acknowledged, does nothing twice, and sends all notifications", async () => {
    const service = await CrashService.open(kind, ledgerSeats);
    try {
      const ledger = new Ledger();
      for (const death of deathsOf(kind)) {
        const { unanswered } = await playRound(service, ledger, death);
        expect(unanswered).toBeGreaterThan(0);
      }
      expect(await endRounds(service, ledger)).toBeGreaterThanOrEqual(2);
    } finally {
      await service.end();
    }
  });
});
