import { describe, expect, setDefaultTimeout, test } from "bun:test";

import { databases } from "./databases.ts";
import { Ledger, ledgerSeats } from "./ledger.ts";
import { type Death, deaths, endRounds, outside, playRound } from "./rounds.ts";
import { CrashService } from "./service.ts";

// Every wait has a bound of its own; this is for a machine that is busy.
setDefaultTimeout(60_000);

const named = (name: string): Death => {
  const death = deaths.find((candidate) => candidate.name === name);
  if (death === undefined) throw new Error(`No death ${name}`);
  return death;
};

describe.each(databases)("kill -9 under load on $name", (kind) => {
  test("loses nothing that was acknowledged, does nothing twice, and notifies of everything", async () => {
    const service = await CrashService.open(kind, ledgerSeats);
    try {
      const ledger = new Ledger();
      const ways = [
        outside,
        named("before the commit of a booking"),
        named("after the commit of a delivery"),
        outside,
      ];
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
