import { type TestApp, until } from "./app.ts";
import type { TestGateway } from "./gateway.ts";
import { itemsOf, listed, timelineOf } from "./operator.ts";

export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
/** The documented retry schedule. */
export const waits = [5 * second, 30 * second, 2 * minute, 10 * minute, hour, 6 * hour];

export const deliver = (app: TestApp) => app.deliverSample("task_tracker", "task.completed");

/** Advances the clock in small increments until the condition holds. */
export const untilLater = (
  app: TestApp,
  condition: () => boolean | Promise<boolean>,
  stepMs = 20,
): Promise<void> =>
  until(() => {
    app.clock.advance(stepMs);
    return condition();
  });

export async function newest(app: TestApp): Promise<Record<string, unknown>> {
  const [notification] = await listed(app, "/v1/notifications");
  if (notification === undefined) throw new Error("No notifications");
  return notification;
}

/** The newest notification, once its `number`th attempt is recorded. */
export async function afterAttempt(app: TestApp, number: number): Promise<Record<string, unknown>> {
  await untilLater(app, async () => {
    const [latest] = (await timelineOf(app, (await newest(app))["eventId"])).slice(-1);
    return itemsOf(latest?.["attempts"]).length >= number;
  });
  return newest(app);
}

export const idsOf = ({ received }: TestGateway) =>
  new Set(received.map(({ headers }) => headers["webhook-id"]));
