import { at } from "../../../support/graphql.ts";
import { type Answer, book, type Interface } from "../../harness/requests.ts";
import {
  bookingEvent,
  type BookingInput,
  flightOf,
  type KeyRecord,
  keyRecord,
  type Model,
  type ModelBooking,
  seatsLeft,
} from "../model.ts";
import { saleEndsMs } from "../rules.ts";
import { ask, type Refusal, same, sameOutcome, type Server } from "../server.ts";
import { createdFields, createdView } from "../views.ts";

import type { Access } from "./command.ts";

/** Few different bodies, so that the same one is often repeated under a key. */
export function inputOf(flightId: number, passengers: number, mark = "Ada"): BookingInput {
  return {
    flightId,
    passengers: Array.from({ length: passengers }, (_, index) => ({
      firstName: mark,
      lastName: "Lovelace",
      email: `${mark.toLowerCase()}${index}@example.com`,
      dateOfBirth: "1990-04-12",
      passportNumber: `X${String(index).padStart(5 + (index % 4), "0")}`,
    })),
    contactEmail: `${mark.toLowerCase()}@example.com`,
    paymentMethod: "card",
  };
}

export interface Asking extends Access {
  readonly userId: string;
  readonly door: Interface;
  readonly input: BookingInput;
  readonly key: string | null;
}

export async function send(server: Server, { token, door, input, key }: Asking): Promise<Answer> {
  const operation = book(input, key, `${createdFields} cancellation { bookingId }`);
  const answer = await ask(server, token, door, operation);
  if (door === "REST" || answer.code !== null) return answer;
  const { cancellation, ...body } = { ...Object(answer.body) };
  same("cancellation of a new booking", cancellation, null);
  return { ...answer, body };
}

function recordOf(model: Model, { userId, key }: Asking, nowMs: number): KeyRecord | undefined {
  if (key === null) return undefined;
  return keyRecord(model, { operation: "booking", userId, key }, nowMs);
}

/** The expected error of a request; null if it succeeds. */
function refusalOf(model: Model, asking: Asking, nowMs: number): Refusal | null {
  const { refusal, input } = asking;
  if (refusal !== null) return refusal;
  const passports = input.passengers.map(({ passportNumber }) => passportNumber);
  if (new Set(passports).size < passports.length) return { status: 422, code: "validation-failed" };
  const record = recordOf(model, asking, nowMs);
  if (record !== undefined) {
    const isEqual = JSON.stringify(record.input) === JSON.stringify(input);
    return isEqual ? null : { status: 422, code: "idempotency-key-reused" };
  }
  const flight = model.flights.find(({ id }) => id === input.flightId);
  if (flight === undefined) return { status: 404, code: "flight-not-found" };
  if (flight.departureMs - nowMs <= saleEndsMs) return { status: 422, code: "booking-closed" };
  const hasSeats = seatsLeft(model, flight) >= input.passengers.length;
  return hasSeats ? null : { status: 409, code: "no-seats" };
}

/** Adds a new booking to the model, after checking the response. */
export function adopt(model: Model, { body }: Answer, asking: Asking, nowMs: number): ModelBooking {
  const { userId, input, key } = asking;
  const flight = flightOf(model, input.flightId);
  const booking: ModelBooking = {
    id: String(at(body, "bookingId")),
    reference: String(at(body, "reference")),
    createdMs: nowMs,
    userId,
    input,
    totalMinor: flight.priceMinor * input.passengers.length,
    currency: flight.currency,
    flightChange: null,
    cancellation: null,
  };
  same("booking", body, createdView(booking));
  same(
    "form of its names",
    /^bk_[0-9a-f]{32} [A-Z]{6}$/.test(`${booking.id} ${booking.reference}`),
    true,
  );
  same(
    "a booking's id is new",
    model.bookings.some(({ id }) => id === booking.id),
    false,
  );
  model.bookings.push(booking);
  model.events.push(bookingEvent("booking.confirmed", booking.id, nowMs));
  if (key !== null) {
    model.keys.push({ operation: "booking", userId, key, input, madeId: booking.id, atMs: nowMs });
  }
  return booking;
}

/** Sends a request; with a key, several times at once, of which one is executed. */
export async function attempt(
  model: Model,
  server: Server,
  asking: Asking,
  copies: number,
): Promise<void> {
  const nowMs = server.clock.now();
  const record = recordOf(model, asking, nowMs);
  const refusal = refusalOf(model, asking, nowMs);
  const flight = model.flights.find(({ id }) => id === asking.input.flightId);
  const left = flight === undefined ? undefined : seatsLeft(model, flight);
  const times = asking.key === null ? 1 : copies;
  const answers = await Promise.all(Array.from({ length: times }, () => send(server, asking)));
  const what = record === undefined ? "book" : "book under a known key";
  for (const answer of answers) sameOutcome(server, what, answer, refusal);
  if (refusal?.code === "no-seats") {
    for (const { body } of answers) same("seats told", at(body, "seatsAvailable"), left);
  }
  if (refusal !== null) return;
  const known = model.bookings.find(({ id }) => id === record?.madeId);
  const [first] = answers;
  if (first === undefined) return;
  const booking = known ?? adopt(model, first, asking, nowMs);
  for (const answer of answers) same("booking, told again", answer.body, createdView(booking));
  if (asking.door === "REST") compareReplays(answers, known !== undefined, booking);
}

function compareReplays(answers: readonly Answer[], isKnown: boolean, { id }: ModelBooking): void {
  const replayed = answers.filter(({ headers }) => headers.get("idempotent-replayed") === "true");
  same(
    "answers marked as replayed",
    replayed.length,
    isKnown ? answers.length : answers.length - 1,
  );
  for (const { status, headers } of answers) {
    same("status and location", [status, headers.get("location")], [201, `/v1/api/bookings/${id}`]);
  }
}
