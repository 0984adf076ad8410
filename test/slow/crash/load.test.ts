import { describe, expect, setDefaultTimeout, test } from "bun:test";

import { compiledProgram } from "../../support/program.ts";
import { sampleOf } from "../../support/runs.ts";
import { databases } from "../harness/databases.ts";
import { inWorld } from "../harness/in-world.ts";

import { Ledger, ledgerSeats, workersOfFleet } from "./ledger.ts";
import { type Death, endRounds, outside, playRound, pointsOn, withOutside } from "./rounds.ts";

// Many deaths, each of a new process.
setDefaultTimeout(300_000);

/**
 * At a sample of points, which differs from run to run, or at all of them by night. Crash points work only in the source;
 * the compiled program is killed from outside as often.
 */
const deathsAt = (points: readonly Death[], count: number): readonly Death[] =>
  compiledProgram === null
    ? withOutside(sampleOf(points, count))
    : Array<Death>(count).fill(outside);

const pointsOfFleet = [
  "before the commit of a claim of notifications",
  "after the commit of a delivery",
  "before the commit of an attempt to notify",
];

describe.each(databases())("kill -9 under load on $name", (kind) => {
  test("loses nothing acknowledged, does nothing twice, and sends all notifications", () =>
    inWorld(kind, { seats: ledgerSeats, dies: true }, async (world) => {
      const ledger = new Ledger();
      for (const death of deathsAt(pointsOn(kind), 9)) {
        const { unanswered } = await playRound(world, ledger, death);
        expect(unanswered).toBeGreaterThan(0);
      }
      expect(await endRounds(world, ledger)).toBeGreaterThanOrEqual(2);
    }));

  test("has fifty destinations of mixed health each receive what they match, in order where asked, and nothing else", () =>
    inWorld(kind, { seats: ledgerSeats, dies: true, withFleet: true }, async (world) => {
      const ledger = new Ledger({ workers: workersOfFleet });
      const points = pointsOn(kind).filter(({ name }) => pointsOfFleet.includes(name));
      for (const death of deathsAt(points, 1)) await playRound(world, ledger, death);
      await endRounds(world, ledger);
      expect(world.fleet?.requests).toBeGreaterThan(ledger.acknowledged * 30);
    }));
});
