import { bookingBody, post } from "../../support/flights.ts";
import { at, listAt } from "../../support/graphql.ts";

import type { BookingRequest, FlightAnswer } from "./flight.ts";
import { answered, graphql, type Outcome, rest, type Result } from "./send.ts";

export const interfaces = ["REST", "GraphQL"] as const;
export type Interface = (typeof interfaces)[number];

/** Sends requests about flights to a server. */
export class FlightClient {
  readonly #headers: { readonly authorization: string };
  /** The seats that a response with this entity tag had. */
  readonly #seatsByTag = new Map<string, number>();
  /** The newest entity tag of each flight. */
  readonly #tags = new Map<number, string>();

  constructor(authorization: string) {
    this.#headers = { authorization };
  }

  async book(
    server: string,
    through: Interface,
    flightId: number,
    { seats, key, contact, isHold }: BookingRequest,
  ): Promise<Outcome<FlightAnswer>> {
    const plain = { ...bookingBody(flightId, seats), contactEmail: contact };
    const input = isHold ? { ...plain, hold: true } : plain;
    if (through === "GraphQL") {
      const result = await graphql(server, this.#headers, bookQuery, { input, key });
      return answered(result, (made) => bookedOf(made, null));
    }
    const keyed = key === null ? {} : { "idempotency-key": key };
    const init = post(input, { ...this.#headers, ...keyed });
    const result = await rest(`${server}/v1/api/bookings`, init);
    return answered(result, (made) => {
      return bookedOf(made, made.headers.get("idempotent-replayed") === "true");
    });
  }

  async cancel(server: string, through: Interface, id: string): Promise<Outcome<FlightAnswer>> {
    const headers = this.#headers;
    const result =
      through === "REST"
        ? await rest(`${server}/v1/api/bookings/${id}`, { method: "DELETE", headers })
        : await graphql(server, headers, cancelQuery, { id });
    return answered(result, ({ code, body }) =>
      code === "booking-not-found"
        ? { is: "not found" }
        : { is: "cancelled", cancelledAt: textIn(code, body, "cancelledAt") },
    );
  }

  /** By REST, the flight is often read with `If-None-Match`. */
  async read(server: string, through: Interface, flightId: number): Promise<Outcome<FlightAnswer>> {
    if (through === "GraphQL") {
      const result = await graphql(server, {}, flightQuery, { flightId });
      return answered(result, ({ code, body }) => seatsIn(code, body));
    }
    const tag = this.#tags.get(flightId);
    const headers: Record<string, string> = tag === undefined ? {} : { "if-none-match": tag };
    const result = await rest(`${server}/v1/api/flights/${flightId}`, { headers });
    return answered(result, ({ code, body, headers: received }) => {
      const current = received.get("etag") ?? "";
      const known = body === null ? this.#seatsByTag.get(current) : undefined;
      if (known !== undefined) return { is: "seats", seatsLeft: known };
      const answer = seatsIn(code, body);
      this.#tags.set(flightId, current);
      this.#seatsByTag.set(current, answer.seatsLeft);
      return answer;
    });
  }

  async readBooking(
    server: string,
    through: Interface,
    id: string,
  ): Promise<Outcome<FlightAnswer>> {
    const headers = this.#headers;
    const result =
      through === "REST"
        ? await rest(`${server}/v1/api/bookings/${id}`, { headers })
        : await graphql(server, headers, bookingQuery, { id });
    return answered(result, ({ code, body }) => {
      if (body === null || code === "booking-not-found") return { is: "not found" };
      const { seatsLeft } = seatsIn(code, at(body, "flight"));
      return { is: "booking", status: statusIn(body), seatsLeft };
    });
  }

  /** The local day of departure of the first flight. */
  async day(server: string): Promise<string> {
    const result = await rest(`${server}/v1/api/flights/1`);
    if (typeof result === "string") throw new Error("The first flight cannot be read");
    return textIn(result.code, result.body, "departureLocal").slice(0, 10);
  }

  /** Every booking. */
  async bookings(server: string): Promise<readonly ListedBooking[]> {
    const bookings: ListedBooking[] = [];
    let cursor = "";
    do {
      const url = `${server}/v1/api/bookings?limit=100${cursor}`;
      const result = await rest(url, { headers: this.#headers });
      if (typeof result === "string") throw new Error("The bookings cannot be read");
      bookings.push(...listAt(result.body, "data").map(listedBooking));
      const next = at(result.body, "pagination", "nextCursor");
      cursor = typeof next === "string" ? `&cursor=${next}` : "";
    } while (cursor !== "");
    return bookings;
  }

  /** The seats of many flights, by id. A search leaves out flights without any. */
  async list(server: string, through: Interface, day: string): Promise<Outcome<SeatsById>> {
    const search = new URLSearchParams({ ...route, departureDate: day, limit: "100" });
    // Each from an address of its own, or the budget of one without a token would end.
    listed += 1;
    const headers = { "x-forwarded-for": `10.0.${(listed >> 8) & 255}.${listed & 255}` };
    const result =
      through === "REST"
        ? await rest(`${server}/v1/api/flights?${search.toString()}`, { headers })
        : await graphql(server, headers, listQuery, {});
    return answered(result, ({ code, body }) => {
      const flights = listAt(body, through === "REST" ? "flights" : "nodes");
      return new Map(
        flights.map((flight) => {
          const id = at(flight, through === "REST" ? "id" : "flightId");
          return [Number(id), seatsIn(code, flight).seatsLeft];
        }),
      );
    });
  }
}

let listed = 0;

type SeatsById = ReadonlyMap<number, number>;

/** A booking in the list of all bookings. */
export interface ListedBooking {
  readonly bookingId: string;
  readonly contact: string;
  /** Null: it is not cancelled. */
  readonly cancelledAt: string | null;
}

/** All flights are of this route. */
const route = { origin: "JFK", destination: "LHR" };

const bookQuery = `mutation ($input: CreateBookingInput!, $key: String) {
  result: createBooking(input: $input, idempotencyKey: $key) { bookingId flight { seatsAvailable } }
}`;
const cancelQuery = "mutation ($id: ID!) { result: cancelBooking(bookingId: $id) { cancelledAt } }";
const flightQuery =
  "query ($flightId: Int!) { result: flight(flightId: $flightId) { seatsAvailable } }";
const bookingQuery =
  "query ($id: ID!) { result: booking(bookingId: $id) { status flight { seatsAvailable } } }";
const listQuery = "{ result: flights(first: 100) { nodes { flightId seatsAvailable } } }";

function bookedOf({ code, body }: Result, replayed: boolean | null): FlightAnswer {
  switch (code) {
    case null: {
      const seats = at(body, "flight", "seatsAvailable");
      const seatsLeft = typeof seats === "number" ? seats : null;
      return { is: "booked", bookingId: textIn(code, body, "bookingId"), replayed, seatsLeft };
    }
    case "no-seats":
      return { is: "no seats", seatsLeft: Number(at(body, "seatsAvailable")) };
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

function listedBooking(item: unknown): ListedBooking {
  const cancelledAt = at(item, "cancellation", "cancelledAt");
  return {
    bookingId: String(at(item, "bookingId")),
    contact: String(at(item, "confirmationSentTo")),
    cancelledAt: typeof cancelledAt === "string" ? cancelledAt : null,
  };
}

function seatsIn(code: string | null, flight: unknown) {
  const seatsLeft = at(flight, "seatsAvailable");
  if (typeof seatsLeft === "number") return { is: "seats" as const, seatsLeft };
  throw new Error(`There are no seats in ${JSON.stringify(flight)}, ${code}`);
}

function statusIn(booking: unknown) {
  const status = at(booking, "status");
  if (status === "confirmed" || status === "held" || status === "cancelled") return status;
  throw new Error(`There is no such status: ${JSON.stringify(booking)}`);
}

function textIn(code: string | null, body: unknown, field: string): string {
  const text = at(body, field);
  if (typeof text === "string") return text;
  throw new Error(`There is no ${field} in ${JSON.stringify(body)}, ${code}`);
}
