import { until } from "../../support/app.ts";
import { bookingBody } from "../../support/flights.ts";
import { asOperator, authorization, delivery, paymentEvent } from "../../support/load.ts";
import { itemsOf } from "../../support/operator.ts";
import type { RunningServer } from "../../support/program.ts";

import {
  type Answer,
  answerOf,
  book as booking,
  cancel as cancellation,
  Lost,
  rest,
  to,
} from "./requests.ts";

/* Requests that are the same when they are repeated. Null: there was no answer. */

export type Server = Pick<RunningServer, "url">;

/** Delivers the webhook of that number. */
export const deliver = (server: Server, number: number): Promise<Answer | null> =>
  post(server, "/webhooks/task_tracker", delivery(number));

/** Delivers the event that pays for a booking, or that refunds it. */
export const deliverPayment = (
  server: Server,
  ...about: Parameters<typeof paymentEvent>
): Promise<Answer | null> => post(server, "/webhooks/payment_processor", paymentEvent(...about));

export interface BookingRequest {
  readonly key: string;
  readonly flightId: number;
  readonly passengers: number;
  /** Holds the seats for a payment. */
  readonly hold?: boolean;
}

export async function book(
  server: Server,
  { key, flightId, passengers, hold = false }: BookingRequest,
): Promise<Answer | null> {
  // Each booking has another user, since a user can have few holds, and may write so often in a minute.
  const token = await authorization("user", `user of ${key}`);
  const input = { ...bookingBody(flightId, passengers), hold };
  return unlessLost(rest(to(server), token, booking(input, key, "")));
}

export async function cancel(server: Server, bookingId: string): Promise<Answer | null> {
  return unlessLost(rest(to(server), await authorization("admin"), cancellation(bookingId, "")));
}

const post = (server: Server, path: string, init: RequestInit) =>
  unlessLost(to(server)(path, init).then(answerOf));

async function unlessLost(answer: Promise<Answer>): Promise<Answer | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Lost) return null;
    throw error;
  }
}

/** Waits until every notification is delivered. */
export async function allDelivered(server: Server, timeoutMs: number): Promise<void> {
  const count = async (status: string) => {
    const page = await asOperator(server, `/v1/notifications?status=${status}`);
    const text = await page.text();
    // The load balancer or the database may not be ready.
    if (!page.ok) return 1;
    const { data }: { data: unknown } = JSON.parse(text);
    return itemsOf(data).length;
  };
  await until(async () => {
    const left = (await count("pending")) + (await count("retrying"));
    if (left > 0) await Bun.sleep(50);
    return left === 0;
  }, timeoutMs);
}
