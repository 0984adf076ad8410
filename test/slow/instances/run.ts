import { parseArgs } from "node:util";

import { noOutages, playOutages, type Report } from "./outages.ts";

const usage = `Usage: bun run outages [options]

Two instances behind HAProxy on a PostgreSQL server of their own, under load: one instance is killed with
SIGKILL and started again, then the database server crashes and is started again, then it crashes and a
synchronous standby takes over. Afterwards the database and the operator gateway are compared with what was acknowledged.

Options
  --acknowledgements N   between one outage and the next (2000)
  --help                 this text`;

const mostAcknowledgements = 100_000;

try {
  const { values } = parseArgs({
    options: { acknowledgements: { type: "string" }, help: { type: "boolean" } },
  });
  const acknowledgements = Number(values.acknowledgements ?? 2_000);
  if (values.help === true) console.log(usage);
  else if (
    !Number.isInteger(acknowledgements) ||
    acknowledgements < 1 ||
    acknowledgements > mostAcknowledgements
  ) {
    throw new Error(`--acknowledgements must be a whole number from 1 to ${mostAcknowledgements}`);
  } else if (noOutages !== null) throw new Error(noOutages);
  else {
    const report = await playOutages({ acknowledgements, waitsForLeases: true });
    const { acknowledged, notifiedAgain } = report;
    const told = ({ unanswered, gapMs }: Report["killed"]) =>
      `${unanswered} requests without a good answer, ${gapMs} ms at most without any acknowledgement.`;
    console.log(
      `No fault found. Acknowledged: ${acknowledged.toLocaleString("en")}, each there once and notified of.
One instance killed: ${told(report.killed)}
Database crashed and started again: ${told(report.restarted)}
Database crashed and a standby promoted: ${told(report.failedOver)}
All of those were asked again and are there once. Notified more than once: ${notifiedAgain}, each under one id.`,
    );
  }
} catch (error) {
  console.error(`outages: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
