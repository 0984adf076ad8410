import { randomNumbers } from "../../support/random.ts";
import { type LongRun, seed } from "../long-run.ts";

import { playKills } from "./kills.ts";

export const transports: LongRun = {
  name: "transports",
  about: "kills message systems and the program under load and counts what arrived",
  description: `Sends webhooks to a program with a destination at RabbitMQ, NATS, Redis, and emulators of SQS and S3, while the
program and the servers are killed with SIGKILL at random times. Then each notification must be at each of them at least
once, and once where the transport promises it: NATS, a FIFO queue of SQS, an object of S3.`,
  flags: {
    deliveries: {
      takes: "number",
      about: "to each message system",
      usual: 10_000,
      least: 1,
      most: 1_000_000,
    },
    pause: {
      takes: "number",
      about: "milliseconds between two kills, about",
      usual: 2_000,
      least: 100,
      most: 600_000,
    },
    seed,
  },

  async run(options) {
    const report = await playKills(
      options.number("deliveries"),
      options.number("pause"),
      randomNumbers(options.number("seed")),
      (line) => console.log(line),
    );
    console.log(
      `Acknowledged: ${report.acknowledged.toLocaleString("en")}; the program was killed ${report.kills} times.`,
    );
    for (const { name, notifications, repeats, missing, crashes } of report.arrived) {
      console.log(
        `${name}: ${notifications.toLocaleString("en")} notifications, ${repeats} repeats, ${missing} missing; killed ${crashes} times`,
      );
    }
    return report.arrived.every(
      ({ name, repeats, missing }) => missing === 0 && (repeats === 0 || !once.has(name)),
    );
  },
};

/** Those that promise no repeat. */
const once: ReadonlySet<string> = new Set(["nats", "sqs", "s3"]);
