import { endOnSignals } from "../harness/in-world.ts";
import type { LongRun } from "../long-run.ts";

import { noOutages, playOutages, type Report } from "./outages.ts";

export const outages: LongRun = {
  name: "outages",
  about:
    "kills an instance and the database behind a load balancer and checks that nothing is lost",
  description: `Two instances behind HAProxy on a PostgreSQL server of their own, under load: one instance is killed with
SIGKILL and started again, then the database server crashes and is started again, then it crashes and a
synchronous standby takes over. Afterwards the database and the operator gateway are compared with what was acknowledged.`,
  flags: {
    acknowledgements: {
      takes: "number",
      about: "between one outage and the next",
      usual: 2_000,
      least: 1,
      most: 100_000,
    },
    destinations: { takes: "nothing", about: "notifies fifty destinations of mixed health too" },
  },

  async run(options) {
    if (noOutages !== null) throw new Error(noOutages);
    endOnSignals();
    const acknowledgements = options.number("acknowledgements");
    const withFleet = options.has("destinations");
    const report = await playOutages({ acknowledgements, waitsForLeases: !withFleet, withFleet });
    const { acknowledged, notifiedAgain } = report;
    const told = ({ unanswered, gapMs }: Report["killed"]) =>
      `${unanswered} requests without a good answer, ${gapMs} ms at most without any acknowledgement.`;
    console.log(
      `No fault found. Acknowledged: ${acknowledged.toLocaleString("en")}, each stored once and notified of.
One instance killed: ${told(report.killed)}
Database crashed and started again: ${told(report.restarted)}
Database crashed and a standby promoted: ${told(report.failedOver)}
All of those were repeated and are stored once. Notified more than once: ${notifiedAgain}, each under one id.`,
    );
    return true;
  },
};
