import { ok } from "node:assert/strict";

import { until } from "../../support/app.ts";
import { noLoadBalancer } from "../../support/load-balancer.ts";
import { noOwnPostgres } from "../../support/own-postgres.ts";
import { Ledger, ledgerSeats, workersOfFleet } from "../crash/ledger.ts";
import { endRounds } from "../crash/rounds.ts";
import { ownServer } from "../harness/databases.ts";
import { inWorld } from "../harness/in-world.ts";

/** Why outage tests are skipped; null when they run. */
export const noOutages = noLoadBalancer ?? noOwnPostgres;

/** A margin for busy machines. */
const patienceMs = 60_000;
/** Statuses of a balancer without a reachable instance, and of an instance without a database. */
const unavailable = [502, 503, 504];

interface Plan {
  /** The number of acknowledgements between two outages. */
  readonly acknowledgements: number;
  /** Whether to wait 30 to 60 s for the leases of a killed instance. */
  readonly waitsForLeases: boolean;
  /** Whether there are fifty destinations besides the operator gateway. */
  readonly withFleet?: boolean;
}

/** The effects of one kind of outage. */
interface Outage {
  /** Requests without an answer or with 502 to 504 at first, which were repeated later. */
  readonly unanswered: number;
  /** The longest time without any acknowledgement. */
  readonly gapMs: number;
}

export interface Report {
  readonly acknowledged: number;
  /** One of two instances was killed. */
  readonly killed: Outage;
  /** The database server crashed and was restarted. */
  readonly restarted: Outage;
  /** The database server crashed, and a standby was promoted. */
  readonly failedOver: Outage;
  /** Notifications that the gateway received more than once, each under one id. */
  readonly notifiedAgain: number;
}

/** So that two instances on one machine keep up with fifty deliveries for each event. */
const thinkMsOfFleet = 500;

/** The shortest possible outage of a database server. */
const leastOutageMs = 100;

/**
 * Loads two instances through the balancer, kills one, starts it again, crashes the database,
 * and has a standby take over from it. Throws what is wrong: something acknowledged that is lost, made twice or was not notified of, a seat
 * sold twice, or an instance that does not serve on.
 */
export async function playOutages(plan: Plan): Promise<Report> {
  const { acknowledgements, waitsForLeases, withFleet = false } = plan;
  const server = await ownServer();
  const options = { seats: ledgerSeats, instances: 2, isBalanced: true, waitsForLeases, withFleet };
  return inWorld(server, options, async (world) => {
    const gaps = longestGap();
    const ledger = new Ledger({
      tolerated: unavailable,
      onAcknowledged: gaps.mark,
      ...(withFleet && { workers: workersOfFleet, thinkMs: thinkMsOfFleet }),
    });
    const more = async () => {
      const enough = ledger.acknowledged + acknowledgements;
      await until(() => ledger.acknowledged >= enough, patienceMs);
    };
    const during = async (outage: () => Promise<void>): Promise<Outage> => {
      await more();
      const before = ledger.unanswered;
      gaps.reset();
      await outage();
      await more();
      return { unanswered: ledger.unanswered - before, gapMs: gaps.longestMs() };
    };
    const outages = async () => {
      const killed = await during(() => world.kill());
      await world.start();
      const restarted = await during(async () => {
        await server.crash();
        await server.start();
      });
      return { killed, restarted, failedOver: await during(() => server.failOver()) };
    };
    let isOver = false;
    const stopLoad = () => {
      isOver = true;
    };
    const loading = ledger.loadUntil(await world.running(), () => isOver);
    const [seen] = await Promise.all([outages().finally(stopLoad), loading]);
    const notifiedAgain = await endRounds(world, ledger);
    // A start that is quick enough is only waited for: what arrived meanwhile is tried again.
    for (const { unanswered, gapMs } of [seen.restarted, seen.failedOver]) {
      ok(unanswered > 0 || gapMs >= leastOutageMs, "The database was down, but no request failed");
    }
    return { acknowledged: ledger.acknowledged, ...seen, notifiedAgain };
  });
}

/** The longest time between two marks. */
function longestGap() {
  let lastMs = performance.now();
  let longest = 0;
  const mark = () => {
    const now = performance.now();
    longest = Math.max(longest, now - lastMs);
    lastMs = now;
  };
  return {
    mark,
    reset() {
      lastMs = performance.now();
      longest = 0;
    },
    longestMs: () => Math.round(longest),
  };
}
