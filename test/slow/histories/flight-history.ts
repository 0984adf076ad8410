import { at } from "../../support/linearizability.ts";

import type { FlightClient } from "./client.ts";
import type { BookingRequest, FlightAnswer, FlightOperation, FlightRequest } from "./flight.ts";
import type { Recorder, Route } from "./recorder.ts";

/** Requests about one flight, and what came of them. */
export class FlightHistory {
  readonly id: number;
  readonly seats: number;
  readonly operations: FlightOperation[] = [];
  readonly #recorder: Recorder;
  readonly #client: FlightClient;
  readonly #random: () => number;
  readonly #bookings: { readonly bookingId: string; readonly seats: number }[] = [];
  /** Requests with a key. */
  readonly #keyed: BookingRequest[] = [];
  /** Requests with a key whose outcome is unknown, to be sent again. */
  #unsettled: BookingRequest[] = [];
  #lastRequest = 0;

  constructor(id: number, seats: number, recorder: Recorder, client: FlightClient) {
    this.id = id;
    this.seats = seats;
    this.#recorder = recorder;
    this.#client = client;
    this.#random = recorder.random;
  }

  async read(route?: Route): Promise<void> {
    await this.#ask({ does: "read" }, route);
  }

  /** With a new key, or without one. */
  async book(): Promise<void> {
    await this.#book(this.#newRequest(this.#random() < 0.7));
  }

  /** The same request twice at once. */
  async bookTwice(): Promise<void> {
    const request = this.#newRequest(true);
    await Promise.all([this.#book(request), this.#book(request)]);
  }

  /** Two requests with one key at once, of which one must fail. */
  async bookAtOdds(): Promise<void> {
    const request = this.#newRequest(true);
    await Promise.all([this.#book(request), this.#book(changed(request))]);
  }

  /** Sends a request again, above all one with an unknown outcome. */
  async bookAgain(): Promise<void> {
    const request = this.#unsettled.shift() ?? this.#any(this.#keyed);
    if (request === undefined) return this.book();
    await this.#book(this.#random() < 0.2 ? changed(request) : request);
  }

  async cancel(times = 1): Promise<void> {
    const booking = this.#any(this.#bookings);
    if (booking === undefined) return this.book();
    const once = () => this.#ask({ does: "cancel", ...booking });
    await Promise.all(Array.from({ length: times }, once));
  }

  async readBooking(): Promise<void> {
    const booking = this.#any(this.#bookings);
    if (booking !== undefined) await this.#ask({ does: "read booking", ...booking });
  }

  /** Sends what is unsettled again, and reads everything, by these routes. */
  async finish(routes: readonly Route[]): Promise<void> {
    for (const request of this.#unsettled.splice(0)) await this.#book(request);
    for (const route of routes) await this.read(route);
    for (const booking of this.#bookings) await this.#ask({ does: "read booking", ...booking });
  }

  #newRequest(isKeyed: boolean): BookingRequest {
    this.#lastRequest += 1;
    const name = `${this.id}-${this.#lastRequest}`;
    const request: BookingRequest = {
      does: "book",
      seats: 1 + Math.floor(this.#random() * 3),
      key: isKeyed ? `key-${name}` : null,
      contact: `ada-${name}@example.com`,
      isHold: this.#random() < 0.25,
    };
    if (isKeyed) this.#keyed.push(request);
    return request;
  }

  async #book(request: BookingRequest): Promise<void> {
    const answer = await this.#ask(request);
    if (answer === null && request.key !== null) this.#unsettled.push(request);
    if (answer?.is !== "booked") return;
    const { bookingId } = answer;
    if (this.#bookings.some((booking) => booking.bookingId === bookingId)) return;
    this.#bookings.push({ bookingId, seats: request.seats });
  }

  /** Returns the answer; null: unknown. */
  async #ask(request: FlightRequest, route?: Route): Promise<FlightAnswer | null> {
    const client = this.#client;
    const timed = await this.#recorder.timed(
      route ?? (await this.#recorder.route()),
      (send, through) => {
        switch (request.does) {
          case "book":
            return client.book(send, through, this.id, request);
          case "cancel":
            return client.cancel(send, through, request.bookingId);
          case "read":
            return client.read(send, through, this.id);
          case "read booking":
            return client.readBooking(send, through, request.bookingId);
        }
      },
    );
    if (timed === null) return null;
    const isRead = request.does === "read" || request.does === "read booking";
    // A read without an answer says nothing.
    if (!isRead || timed.answer !== null) this.operations.push({ ...timed, request });
    return timed.answer;
  }

  #any<Item>(items: readonly Item[]): Item | undefined {
    return items.length === 0 ? undefined : at(items, Math.floor(this.#random() * items.length));
  }
}

/** Another request with the same key. */
const changed = ({ contact, ...request }: BookingRequest): BookingRequest => ({
  ...request,
  contact: contact.replace("ada", "eve"),
});
