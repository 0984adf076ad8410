import type { Context } from "../../../src/base/context.ts";
import { textAt } from "../../../src/base/payload.ts";
import type { NewSubscription } from "../../../src/outbound/subscriptions/subscription.ts";
import { type Received, type TestGateway, testGateway } from "../../support/gateway.ts";

export const secretOf = (letter: string, bytes = 32) =>
  `whsec_${Buffer.alloc(bytes, letter).toString("base64")}`;

export const agentOf = (id: string): Context => ({
  actor: { id, roles: ["operator"] },
  expiresAt: new Date(8_640_000_000_000_000),
  requestId: "test",
});

/** A subscription of an agent to completed tasks. */
export const wanted = (url: string, fields: Partial<NewSubscription> = {}): NewSubscription => ({
  subscriber: "agent-1",
  url,
  secret: secretOf("a"),
  provider: "task_tracker",
  type: "task.completed",
  severity: null,
  subject: null,
  ttlMs: undefined,
  ...fields,
});

export const challengeIn = ({ body }: Received) => textAt(JSON.parse(body), "challenge");

/** The callback of an agent: repeats challenges, and answers deliveries. */
export function callback(answer: () => Response = () => new Response()): TestGateway {
  return testGateway((_, received) => {
    const challenge = challengeIn(received);
    return challenge === null ? answer() : Response.json({ challenge });
  });
}

/** What was delivered to a callback, without challenges. */
export const deliveriesTo = ({ received }: TestGateway) =>
  received.filter((each) => challengeIn(each) === null);
