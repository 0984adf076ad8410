import { at } from "../../../support/graphql.ts";
import { asOperator, authorization } from "../../../support/load.ts";
import { book, cancel, deliver, deliverPayment, type Server } from "../../harness/clients.ts";
import { createUser, rest, to } from "../../harness/requests.ts";
import { Said } from "../facts.ts";
import { wrongDatabase } from "../opened.ts";
import { recordedWorld, type Scenario } from "../scenario.ts";

const clients = 6;
export const seats = [1_000, 1_000, 30];

/**
 * A server, from its first start on an empty folder: it receives deliveries, bookings, payments, cancellations and users, is
 * stopped, started again, killed, and started again.
 */
export const service: Scenario = {
  name: "service",

  record: (recorder, requests) =>
    recordedWorld(recorder, seats, async (world) => {
      const load = new Load();
      const ends = ["stop", "kill", "stop"] as const;
      for (const end of ends) {
        const server = await world.running();
        await load.send(server, Math.ceil(requests / ends.length));
        if (end === "stop") await world.settled();
        await load.readDelivered(server);
        await world[end]();
      }
    }),

  claims() {
    const said = new Said();
    return {
      hear: (step) => said.hear(step),
      count: () => said.facts.size,
      wrongIn: (folder) => wrongDatabase(folder, said.facts),
    };
  },
};

/** Of ten requests, one is a booking, one a hold that is paid, one a cancellation and one a new user; the others are deliveries. */
export class Load {
  #last = 0;
  readonly #booked: string[] = [];

  /** Sends that many requests from several clients. */
  async send(server: Server, requests: number): Promise<void> {
    const end = this.#last + requests;
    const work = async () => {
      while (this.#last < end) await this.#one(server, (this.#last += 1));
    };
    await Promise.all(Array.from({ length: clients }, work));
  }

  /** Reads which notifications are delivered. */
  async readDelivered(server: Server): Promise<void> {
    const answer = await asOperator(server, "/v1/notifications?status=delivered&limit=100");
    if (answer.status !== 200) throw new Error(await answer.text());
    await answer.text();
  }

  async #one(server: Server, number: number): Promise<void> {
    const kind = number % 10;
    const bookingId = kind === 3 ? this.#booked.shift() : undefined;
    if (bookingId !== undefined) await cancel(server, bookingId);
    else if (kind === 5 || kind === 6) {
      const flightId = 1 + (number % seats.length);
      const hold = kind === 6;
      const request = { key: `key-${number}`, flightId, passengers: 1 + (number % 4), hold };
      const answer = await book(server, request);
      if (answer?.status !== 201) return;
      const id = String(at(answer.body, "bookingId"));
      const cents = Math.round(Number(at(answer.body, "totalPrice")) * 100);
      if (hold) await deliverPayment(server, "payment_intent.succeeded", id, cents);
      this.#booked.push(id);
    } else if (kind === 8) await addUser(server, number);
    else await deliver(server, number);
    if (number % 25 === 0) await this.readDelivered(server);
  }
}

async function addUser(server: Server, number: number): Promise<void> {
  const input = { name: `User ${number}`, email: `user-${number}@example.com` };
  await rest(to(server), await authorization("user"), createUser(input, null, ""));
}
