import { beforeEach, expect, setSystemTime, test } from "bun:test";

import { Webhook } from "standardwebhooks";

import { startApp, type TestApp } from "../../support/app.ts";
import { endsAfterEach } from "../../support/ends.ts";
import type { Received, TestGateway } from "../../support/gateway.ts";
import { deliver, hour, untilLater } from "../../support/notifying.ts";
import { listed } from "../../support/operator.ts";

import { agentOf, callback, deliveriesTo, secretOf, wanted } from "./callback.ts";

const ends = endsAfterEach();
const agent = agentOf("agent");
const day = 24 * hour;

let app: TestApp;
let endpoint: TestGateway;
let answer: () => Response;
beforeEach(async () => {
  answer = () => new Response();
  endpoint = callback(() => answer());
  app = await startApp({ DESTINATIONS_ALLOW_PRIVATE: "operators" });
  ends.push(
    () => endpoint.stop(),
    () => app.stop(),
  );
});

const subscribe = (fields: Parameters<typeof wanted>[1] = {}) =>
  app.services.subscriptions.subscribe(agent, wanted(endpoint.url, fields));

/** Delivers an event and waits until the callback has `count` deliveries. */
async function delivered(count: number): Promise<Received> {
  await deliver(app);
  await untilLater(app, () => deliveriesTo(endpoint).length >= count);
  const last = deliveriesTo(endpoint).at(-1);
  if (last === undefined) throw new Error("Nothing was delivered");
  return last;
}

/** As a receiver checks it at the time of the app. */
function verifies({ headers, body }: Received, secret: string): boolean {
  setSystemTime(new Date(app.clock.now()));
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  } finally {
    setSystemTime();
  }
}

test("a subscriber receives events signed with its secret", async () => {
  const made = await subscribe();
  expect(made).toEqual({
    id: expect.stringMatching(/^sub_[0-9a-f]{32}$/),
    refreshBefore: new Date(app.clock.now() + day),
    deliveryStatus: null,
    isNew: true,
  });
  const sent = await delivered(1);
  const [event] = await listed(app, "/v1/events");
  expect(JSON.parse(sent.body)).toMatchObject({
    eventId: event?.["id"],
    name: "task_tracker.task.completed",
    timestamp: event?.["occurredAt"],
    data: { title: event?.["title"], event: { id: event?.["id"] } },
  });
  expect(sent.headers).toMatchObject({ "x-mcp-subscription-id": made.id });
  expect(sent.headers["webhook-id"]).toBe(String(event?.["id"]));
  expect(verifies(sent, secretOf("a"))).toBe(true);
});
