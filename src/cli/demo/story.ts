import type { Services } from "../../services.ts";

import { historyMs, minuteMs, type Moment, moment, type Time, timeOf } from "./past.ts";
import { chosen, customers } from "./people.ts";
import { pastSales } from "./sales.ts";
import { type Plot, plotOf, sceneOf } from "./scenes.ts";
import { type SampleOptions, send, type Sender } from "./webhooks.ts";

const sceneEveryMinutes = 55;
const sceneCount = Math.floor(historyMs / minuteMs / sceneEveryMinutes);

type Scene = readonly (readonly [
  Time,
  provider: string,
  type: string,
  how?: SampleOptions & { readonly plot?: Partial<Plot> },
])[];

const noor = chosen(customers, 0);
const bad = { commit: "Charge cards before seats are held", service: "booking-api", author: "Ada" };
const rollback = { plot: { commit: `Roll back: ${bad.commit}` } };
const complaint = {
  customer: noor,
  subject: "Charged twice",
  question: "My card was charged twice for one booking",
  answer: "Sorry! Your refund is on its way",
};

/** A deploy that fails while a destination is down, its rollback, and the customer whom it hits. */
const badDeploy: Scene = [
  ["13:51", "code_host", "workflow_run.completed"],
  ["14:02", "deploy_platform", "deploy.created"],
  ["14:04", "deploy_platform", "deploy.error"],
  ["14:09", "deploy_platform", "deploy.created", rollback],
  ["14:11", "deploy_platform", "deploy.succeeded", rollback],
  ["14:19", "shared_inbox", "message.received"],
  ["14:22", "shared_inbox", "assignee.changed"],
  ["14:31", "shared_inbox", "message.sent"],
];

/** Failed deploys before and after the outage, a dispute, and webhooks that are rejected, each for another reason. */
const others: Scene = [
  [2_905, "deploy_platform", "deploy.error", { plot: { commit: "Index fares by cabin" } }],
  [2_320, "payment_processor", "charge.dispute.created"],
  ["23:20", "deploy_platform", "deploy.error", { plot: { commit: "Try the new map tiles" } }],
  [190, "deploy_platform", "deploy.created", { secretOf: "shared_inbox" }],
  [52, "code_host", "workflow_run.completed", { isReformatted: true }],
];

/** While it lasts, one destination answers 503. It ends after the last retry of what was sent at its beginning. */
const outage = { from: "13:58", to: "23:00" };

export function isInOutage(nowMs: number): boolean {
  return nowMs >= timeOf(outage.from) && nowMs < timeOf(outage.to);
}

/** After these minutes, longer than a delay of the usual retries and its jitter, the failed delivery has been retried. */
const retriesAfter = [0.1, 0.7, 3, 14.5, 81, 478];
const quiet = () => Promise.resolve();

/** Everything that happened before the demo began. */
export async function pastOf(services: Services, sender: Sender): Promise<Moment[]> {
  const ordinary = Array.from({ length: sceneCount }, (_, number) => {
    const plot = plotOf(number);
    const begin = historyMs / minuteMs - number * sceneEveryMinutes;
    return sceneOf(number)
      .filter(([minutes]) => minutes < begin)
      .map(([minutes, provider, type, changes]) =>
        moment(begin - minutes, () => send(sender, [provider, type], { ...plot, ...changes })),
      );
  });
  const play = (scene: Scene, plotAt: (index: number) => Plot) =>
    scene.map(([time, provider, type, { plot, ...how } = {}], index) =>
      moment(time, () => send(sender, [provider, type], { ...plotAt(index), ...plot }, how)),
    );
  const story = { ...plotOf(sceneCount), ...bad, ...complaint };
  const retries = retriesAfter.map((minutes) => {
    const { agoMs } = moment("14:04", quiet);
    return { agoMs: agoMs - minutes * minuteMs, happen: quiet };
  });
  return [
    ...ordinary.flat(),
    ...play(badDeploy, () => story),
    ...play(others, (index) => plotOf(sceneCount + 1 + index)),
    ...retries,
    ...(await pastSales(services, sender)),
  ];
}
