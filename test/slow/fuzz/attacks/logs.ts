import { type Attack, deliver, expectStatus, flood } from "./attack.ts";

/** Deliveries that must be answered well, whatever becomes of the log lines that they cause. */
const deliveries: Attack["run"] = (victim) =>
  flood(1_000, 8, async () => expectStatus(await deliver(victim), 200));

export const logAttacks: readonly Attack[] = [
  {
    name: "log-disk-full",
    about: "1,000 deliveries while the disk of the log is full",
    stdout: "/dev/full",
    run: deliveries,
  },
  {
    name: "log-unread",
    about: "1,000 deliveries while nobody reads the pipe that the log goes to",
    stdout: "unread pipe",
    run: deliveries,
  },
];
