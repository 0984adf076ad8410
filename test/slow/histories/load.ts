import { at } from "../../support/linearizability.ts";
import { authorization } from "../../support/load.ts";
import { to } from "../harness/requests.ts";
import { providers } from "../harness/signed-deliveries.ts";

import { FlightClient } from "./client.ts";
import { DeliveryHistory } from "./delivery-history.ts";
import { FlightHistory } from "./flight-history.ts";
import type { FlightOperation } from "./flight.ts";
import type { Recorder, Route } from "./recorder.ts";
import { settled } from "./settle.ts";

const clients = 10;
/** Few, so that requests meet. */
const flightsAtOnce = 2;
const deliveriesAtOnce = 3;
/** Then the next flight takes its place: the time of a check grows with the square of a history. */
const operationsPerFlight = 120;
const operationsPerDelivery = 12;

/** Of the requests, how many of a hundred are of a kind. */
const shares: readonly (readonly [share: number, action: (load: Load) => Promise<void>])[] = [
  [22, (load) => load.flight().read()],
  [4, (load) => load.list()],
  [22, (load) => load.flight().book()],
  [4, (load) => load.flight().bookTwice()],
  [3, (load) => load.flight().bookAtOdds()],
  [8, (load) => load.flight().bookAgain()],
  [10, (load) => load.flight().cancel()],
  [3, (load) => load.flight().cancel(2)],
  [6, (load) => load.flight().readBooking()],
  [10, (load) => load.delivery().deliver()],
  [4, (load) => load.delivery().deliver(2)],
  [4, (load) => load.delivery().readEvent()],
];

/** Everything that was recorded, by object. */
export interface Histories {
  readonly flights: readonly {
    readonly id: number;
    readonly seats: number;
    readonly operations: readonly FlightOperation[];
  }[];
  readonly deliveries: readonly DeliveryHistory[];
}

/** Concurrent clients that record what they ask and what they are answered. */
export class Load {
  readonly #flights: readonly FlightHistory[];
  readonly #deliveries: DeliveryHistory[] = [];
  readonly #recorder: Recorder;
  readonly #client: FlightClient;
  readonly #operator: string;
  readonly #random: () => number;
  /** The local day of departure of all flights. */
  readonly #day: string;

  static async on(recorder: Recorder, seats: readonly number[]): Promise<Load> {
    // A client, since a user may write less often in a minute.
    const client = new FlightClient(await authorization("user", "cli_0"));
    const day = await client.day(to(await recorder.instance()));
    return new Load(recorder, seats, client, await authorization("operator"), day);
  }

  private constructor(
    recorder: Recorder,
    seats: readonly number[],
    client: FlightClient,
    operator: string,
    day: string,
  ) {
    this.#recorder = recorder;
    this.#client = client;
    this.#operator = operator;
    this.#random = recorder.random;
    this.#day = day;
    this.#flights = seats.map(
      (count, index) => new FlightHistory(index + 1, count, recorder, client),
    );
  }

  /** Sends requests until `isOver`, or until all flights are used up. Throws after the last answer. */
  async run(isOver: () => boolean): Promise<void> {
    let isDone = false;
    const work = async () => {
      try {
        while (!isOver() && !isDone && this.#current().length > 0) await this.#action()(this);
      } finally {
        isDone = true;
      }
    };
    const workers = await Promise.allSettled(Array.from({ length: clients }, work));
    const failed = workers.find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
  }

  /** Sends what is unsettled again, reads everything from every instance, and returns what to check. */
  async finish(): Promise<Histories> {
    const routes = this.#recorder.world.instances.flatMap((instance): Route[] => [
      { instance, through: "REST" },
      { instance, through: "GraphQL" },
    ]);
    const used = this.#flights.filter(({ operations }) => operations.length > 0);
    await Promise.all([...used, ...this.#deliveries].map((history) => history.finish(routes)));
    const listed = await this.#client.bookings(to(await this.#recorder.instance()));
    const listedMs = performance.now();
    const flights = used.map(({ id, seats, operations }) => {
      return { id, seats, operations: settled(operations, listed, listedMs) };
    });
    return { flights, deliveries: this.#deliveries };
  }

  #action(): (load: Load) => Promise<void> {
    let dice = this.#random() * 100;
    for (const [share, action] of shares) {
      dice -= share;
      if (dice < 0) return action;
    }
    throw new Error("The shares are less than a hundred");
  }

  #current(): readonly FlightHistory[] {
    const isOpen = ({ operations }: FlightHistory) => operations.length < operationsPerFlight;
    return this.#flights.filter(isOpen).slice(0, flightsAtOnce);
  }

  /** One of the flights in use. */
  flight(): FlightHistory {
    const current = this.#current();
    return current[Math.floor(this.#random() * current.length)] ?? at(this.#flights, 0);
  }

  /** One of the deliveries in use. */
  delivery(): DeliveryHistory {
    const isOpen = ({ operations }: DeliveryHistory) => operations.length < operationsPerDelivery;
    const open = this.#deliveries.filter(isOpen);
    const place = Math.floor(this.#random() * deliveriesAtOnce);
    const chosen = open[place];
    if (chosen !== undefined) return chosen;
    const number = this.#deliveries.length;
    const provider = at(providers, number % providers.length);
    const added = new DeliveryHistory(provider, number, this.#recorder, this.#operator);
    this.#deliveries.push(added);
    return added;
  }

  /** Reads several flights with one request. */
  async list(): Promise<void> {
    const listed = this.#current();
    const timed = await this.#recorder.timed(await this.#recorder.route(), (send, through) =>
      this.#client.list(send, through, this.#day),
    );
    if (timed === null || timed.answer === null) return;
    const { answer: seats, ...sent } = timed;
    const through = `${sent.through} list`;
    for (const flight of listed) {
      const answer = { is: "seats", seatsLeft: seats.get(flight.id) ?? 0 } as const;
      flight.operations.push({ ...sent, through, request: { does: "read" }, answer });
    }
  }
}
