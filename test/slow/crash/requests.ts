import { bookingBody, post } from "../../support/flights.ts";
import { authorization, delivery, paymentEvent } from "../../support/load.ts";
import type { RunningServer } from "../../support/program.ts";

/** A complete response. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

export type Server = Pick<RunningServer, "url">;

/** Delivers the webhook of that number; null without a response. */
export function deliver(server: Server, number: number): Promise<Answer | null> {
  return send(`${server.url}/webhooks/task_tracker`, delivery(number));
}

/** A booking request with its key, the same for a retry. */
export interface BookingRequest {
  readonly key: string;
  readonly flightId: number;
  readonly passengers: number;
  /** Holds the seats for a payment. Each hold has another user, since a user can have few. */
  readonly hold?: boolean;
}

export async function book(
  server: Server,
  { key, flightId, passengers, hold = false }: BookingRequest,
): Promise<Answer | null> {
  const user = hold ? `user of ${key}` : "test";
  const headers = { authorization: await authorization("user", user), "idempotency-key": key };
  const request = post({ ...bookingBody(flightId, passengers), hold }, headers);
  return send(`${server.url}/v1/api/bookings`, request);
}

export async function cancel(server: Server, bookingId: string): Promise<Answer | null> {
  const headers = { authorization: await authorization("admin") };
  return send(`${server.url}/v1/api/bookings/${bookingId}`, { method: "DELETE", headers });
}

/** Delivers the event that pays for a booking, or that refunds it; null without a response. */
export function deliverPayment(
  server: Server,
  ...about: Parameters<typeof paymentEvent>
): Promise<Answer | null> {
  return send(`${server.url}/webhooks/payment_processor`, paymentEvent(...about));
}

async function send(url: string, init: RequestInit): Promise<Answer | null> {
  let text: string;
  let response: Response;
  try {
    response = await fetch(url, init);
    text = await response.text();
  } catch {
    return null;
  }
  // A load balancer without a reachable server answers in HTML.
  const isJson = response.headers.get("content-type")?.includes("json") ?? false;
  const body: Answer["body"] = isJson ? JSON.parse(text) : {};
  return { status: response.status, headers: response.headers, body };
}
