import { systemClock } from "../../base/clock.ts";

import { castOf, played } from "./cast.ts";
import { type Sender, sendOne } from "./requests.ts";
import type { Moment } from "./timeline.ts";

const dayMs = 86_400_000;
const zone = Temporal.Now.timeZoneId();

/** A bad deploy in the afternoon, and what follows: its alert, the rollback, a customer's refund and message. */
const story: readonly (readonly [
  time: string,
  provider: string,
  type: string,
  isRollback?: true,
])[] = [
  ["13:51", "code_host", "workflow_run.completed"],
  ["14:02", "deploy_platform", "deploy.created"],
  ["14:04", "deploy_platform", "deploy.error"],
  ["14:03", "payment_processor", "payment_intent.succeeded"],
  ["14:09", "deploy_platform", "deploy.created", true],
  ["14:11", "deploy_platform", "deploy.succeeded", true],
  ["14:19", "shared_inbox", "message.received"],
  ["14:27", "payment_processor", "charge.refunded"],
  ["14:31", "shared_inbox", "message.sent"],
  ["14:40", "task_tracker", "task.created"],
];

const change = "Charge cards before seats are held";
const cast = {
  ...castOf(0),
  repository: "booking-api",
  change,
  employee: "Grace",
  customer: "Noor Haddad",
  subject: "Charged, but no seat",
  task: "Write up the failed deploy of booking-api",
  amount: 48_900,
  isPassed: false,
};

/** The story of today, or of yesterday if today's is not over yet. In the time zone of this machine. */
export function pastStory(sender: Sender): Moment[] {
  const nowMs = systemClock.now();
  const today = Temporal.Instant.fromEpochMilliseconds(nowMs)
    .toZonedDateTimeISO(zone)
    .toPlainDate();
  const agoOf = (time: string) =>
    nowMs - today.toZonedDateTime({ timeZone: zone, plainTime: time }).epochMilliseconds;
  const isOver = agoOf("15:00") > 0;
  return story.flatMap(([time, id, type, isRollback]) => {
    const provider = sender.providers.find((each) => each.id === id);
    const sample = provider?.samples[type];
    if (provider === undefined || sample === undefined) return [];
    const scene = isRollback ? { ...cast, change: `Roll back: ${change}` } : cast;
    return {
      agoMs: agoOf(time) + (isOver ? 0 : dayMs),
      happen: async () => sendOne(sender, provider, played(sample, scene)),
    };
  });
}
