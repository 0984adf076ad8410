import { bookingBody } from "../../support/flights.ts";
import { at, listAt } from "../../support/graphql.ts";
import {
  type Answer,
  book,
  bookingsPath,
  cancel,
  get,
  graphql,
  type Interface,
  Lost,
  readBooking,
  readFlight,
  type Send,
  through,
} from "../harness/requests.ts";

import type { BookingRequest, FlightAnswer } from "./flight.ts";

/** A booking in the list of all bookings. */
export interface ListedBooking {
  readonly bookingId: string;
  readonly contact: string;
  /** Null: it is not cancelled. */
  readonly cancelledAt: string | null;
}

/** All flights are of this route. */
const route = { origin: "JFK", destination: "LHR" };
const seatsField = "seatsAvailable";
let listed = 0;

/** Sends requests about flights to servers. */
export class FlightClient {
  readonly #token: string;
  /** The seats that a response with this entity tag had. */
  readonly #seatsByTag = new Map<string, number>();
  /** The newest entity tag of each flight. */
  readonly #tags = new Map<number, string>();

  constructor(authorization: string) {
    this.#token = authorization;
  }

  async book(
    send: Send,
    by: Interface,
    flightId: number,
    { seats, key, contact, isHold }: BookingRequest,
  ): Promise<FlightAnswer> {
    const plain = { ...bookingBody(flightId, seats), contactEmail: contact };
    const input = isHold ? { ...plain, hold: true } : plain;
    const operation = book(input, key, `bookingId flight { ${seatsField} }`);
    const { code, body, headers } = known(await through(by, send, this.#token, operation));
    switch (code) {
      case null: {
        const left = at(body, "flight", seatsField);
        return {
          is: "booked",
          bookingId: textIn(body, "bookingId"),
          replayed: by === "REST" ? headers.get("idempotent-replayed") === "true" : null,
          seatsLeft: typeof left === "number" ? left : null,
        };
      }
      case "no-seats":
        return { is: "no seats", seatsLeft: Number(at(body, seatsField)) };
      case "validation-failed":
        return { is: "too many holds" };
      case "idempotency-key-reused":
        return { is: "key reused" };
      case "idempotency-in-flight":
        return { is: "key in flight" };
      default:
        throw new Error(`A booking was answered with ${code}`);
    }
  }

  async cancel(send: Send, by: Interface, id: string): Promise<FlightAnswer> {
    const operation = cancel(id, "cancelledAt");
    const { code, body } = known(await through(by, send, this.#token, operation));
    return code === "booking-not-found"
      ? { is: "not found" }
      : { is: "cancelled", cancelledAt: textIn(body, "cancelledAt") };
  }

  /** By REST, the flight is often read with `If-None-Match`. */
  async read(send: Send, by: Interface, flightId: number): Promise<FlightAnswer> {
    const tag = by === "REST" ? this.#tags.get(flightId) : undefined;
    const operation = {
      ...readFlight(flightId, seatsField),
      headers: tag === undefined ? {} : { "if-none-match": tag },
    };
    const { body, headers } = known(await through(by, send, null, operation));
    const current = headers.get("etag");
    if (by === "GraphQL" || current === null) return { is: "seats", seatsLeft: seatsIn(body) };
    const seatsLeft = (body === null ? this.#seatsByTag.get(current) : null) ?? seatsIn(body);
    this.#tags.set(flightId, current);
    this.#seatsByTag.set(current, seatsLeft);
    return { is: "seats", seatsLeft };
  }

  async readBooking(send: Send, by: Interface, id: string): Promise<FlightAnswer> {
    const operation = readBooking(id, `status flight { ${seatsField} }`);
    const { code, body } = known(await through(by, send, this.#token, operation));
    if (body === null || code === "booking-not-found") return { is: "not found" };
    const status = textIn(body, "status");
    if (status !== "confirmed" && status !== "held" && status !== "cancelled")
      throw new Error(`There is no such status: ${status}`);
    return { is: "booking", status, seatsLeft: seatsIn(at(body, "flight")) };
  }

  /** The local day of departure of the first flight. */
  async day(send: Send): Promise<string> {
    const { body } = known(await get(send, null, "/v1/api/flights/1"));
    return textIn(body, "departureLocal").slice(0, 10);
  }

  /** Every booking. */
  async bookings(send: Send): Promise<readonly ListedBooking[]> {
    const bookings: ListedBooking[] = [];
    let cursor = "";
    do {
      const { body } = known(await get(send, this.#token, `${bookingsPath}?limit=100${cursor}`));
      for (const item of listAt(body, "data")) {
        const cancelledAt = at(item, "cancellation", "cancelledAt");
        bookings.push({
          bookingId: textIn(item, "bookingId"),
          contact: textIn(item, "confirmationSentTo"),
          cancelledAt: typeof cancelledAt === "string" ? cancelledAt : null,
        });
      }
      const next = at(body, "pagination", "nextCursor");
      cursor = typeof next === "string" ? `&cursor=${next}` : "";
    } while (cursor !== "");
    return bookings;
  }

  /** The seats of many flights, by id. A search leaves out flights without any. */
  async list(send: Send, by: Interface, day: string): Promise<ReadonlyMap<number, number>> {
    const search = new URLSearchParams({ ...route, departureDate: day, limit: "100" });
    // Each from an address of its own, or the budget of one without a token would end.
    listed += 1;
    const from = { "x-forwarded-for": `10.0.${(listed >> 8) & 255}.${listed & 255}` };
    const sendFrom: Send = (path, init) =>
      send(path, { ...init, headers: { ...Object(init.headers), ...from } });
    const query = `{ result: flights(first: 100) { nodes { id: flightId ${seatsField} } } }`;
    const { body } = known(
      by === "REST"
        ? await get(sendFrom, null, `/v1/api/flights?${search.toString()}`)
        : await graphql(sendFrom, null, { query, variables: {} }),
    );
    const flights = listAt(body, by === "REST" ? "flights" : "nodes");
    return new Map(flights.map((flight) => [Number(at(flight, "id")), seatsIn(flight)]));
  }
}

/** An answer whose outcome is known: what is unavailable may have been carried out. */
export function known(answer: Answer): Answer {
  const { status, code, body } = answer;
  if (status === 503 || code === "unavailable") throw new Lost(true, body);
  if (code === "internal") throw new Error(`A request failed: ${JSON.stringify(body)}`);
  return answer;
}

function seatsIn(flight: unknown): number {
  const seatsLeft = at(flight, seatsField);
  if (typeof seatsLeft === "number") return seatsLeft;
  throw new Error(`There are no seats in ${JSON.stringify(flight)}`);
}

export function textIn(body: unknown, field: string): string {
  const text = at(body, field);
  if (typeof text === "string") return text;
  throw new Error(`There is no ${field} in ${JSON.stringify(body)}`);
}
