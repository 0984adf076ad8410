import { bookingBody, post } from "../../support/flights.ts";
import { authorization, delivery } from "../../support/load.ts";
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
}

export async function book(
  server: Server,
  { key, flightId, passengers }: BookingRequest,
): Promise<Answer | null> {
  const headers = { authorization: await authorization("user"), "idempotency-key": key };
  const request = post(bookingBody(flightId, passengers), headers);
  return send(`${server.url}/v1/api/bookings`, request);
}

export async function cancel(server: Server, bookingId: string): Promise<Answer | null> {
  const headers = { authorization: await authorization("user") };
  return send(`${server.url}/v1/api/bookings/${bookingId}`, { method: "DELETE", headers });
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
