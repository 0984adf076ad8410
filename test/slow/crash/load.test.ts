import { describe, expect, setDefaultTimeout, test } from "bun:test";

import { compiledProgram } from "../../support/program.ts";
import { sampleOf } from "../../support/runs.ts";
import { type DatabaseKind, databases } from "../harness/databases.ts";
import { inWorld } from "../harness/in-world.ts";

import { Ledger, ledgerSeats, workersOfFleet } from "./ledger.ts";
import { type Death, deathsOn, endRounds, outside, playRound } from "./rounds.ts";

// All deaths, each of a new process.
setDefaultTimeout(300_000);

/** Crash points work only in the source; the compiled program is killed from outside as often. */
const deathsOf = (kind: DatabaseKind, count: number): readonly Death[] =>
  compiledProgram === null ? deathsOn(kind) : Array<Death>(count).fill(outside);

/** With the fleet, at one point, which differs from run to run; by night at all of them. */
const deathsOfFleet = sampleOf(
  [
    "before the commit of a claim of notifications",
    "after the commit of a delivery",
    "before the commit of an attempt to notify",
  ],
  1,
);

describe.each(databases())("kill -9 under load on $name", (kind) => {
  test("loses nothing acknowledged, does nothing twice, and sends all notifications", () =>
    inWorld(kind, { seats: ledgerSeats, dies: true }, async (world) => {
      const ledger = new Ledger();
      for (const death of deathsOf(kind, 5)) {
        const { unanswered } = await playRound(world, ledger, death);
        expect(unanswered).toBeGreaterThan(0);
      }
      expect(await endRounds(world, ledger)).toBeGreaterThanOrEqual(2);
    }));

  test("has fifty destinations of mixed health each receive what they match, in order where asked, and nothing else", () =>
    inWorld(kind, { seats: ledgerSeats, dies: true, withFleet: true }, async (world) => {
      const ledger = new Ledger({ workers: workersOfFleet });
      const points = deathsOf(kind, 1).filter(({ name }) => deathsOfFleet.includes(name));
      for (const death of [outside, ...points]) await playRound(world, ledger, death);
      await endRounds(world, ledger);
      expect(world.fleet?.requests).toBeGreaterThan(ledger.acknowledged * 30);
    }));
});
