import { post } from "../../../support/flights.ts";
import { asOperator, authorization, databaseIn, startIn } from "../../../support/load.ts";
import type { RunningServer } from "../../../support/program.ts";
import { book, cancel, deliver, deliverPayment } from "../../crash/requests.ts";
import { addFlights, allDelivered } from "../../crash/service.ts";
import { Said } from "../facts.ts";
import { factsIn, lost, openedIn, undecryptable, unsound, type Wrong } from "../opened.ts";
import { type Claims, type Scenario, withGateway } from "../scenario.ts";

const clients = 6;
export const seats = [1_000, 1_000, 30];
const patienceMs = 60_000;

/**
 * A server, from its first start on an empty folder: it receives deliveries, bookings, payments, cancellations and users, is
 * stopped, started again, killed, and started again.
 */
export const service: Scenario = {
  name: "service",

  async record(recorder, requests) {
    const { root } = recorder;
    const load = new Load();
    await addFlights(root, `sqlite:${databaseIn(root)}`, seats, { through: recorder.recorded() });
    const ends = ["stop", "kill", "stop"] as const;
    await withGateway(async (env) => {
      for (const end of ends) {
        const server = await startIn(root, env, { through: recorder.recorded() });
        try {
          await load.send(server, Math.ceil(requests / ends.length));
          if (end === "stop") await allDelivered(server, patienceMs);
          await load.readDelivered(server);
          await server[end]();
        } finally {
          await server.kill();
        }
      }
    });
  },

  claims: () => new ServiceClaims(),
};

/** Of ten requests, one is a booking, one a hold that is paid, one a cancellation and one a new user; the others are deliveries. */
export class Load {
  #last = 0;
  readonly #booked: string[] = [];

  /** Sends that many requests from several clients. */
  async send(server: RunningServer, requests: number): Promise<void> {
    const end = this.#last + requests;
    const work = async () => {
      while (this.#last < end) await this.#one(server, (this.#last += 1));
    };
    await Promise.all(Array.from({ length: clients }, work));
  }

  /** Reads which notifications are delivered. */
  async readDelivered(server: RunningServer): Promise<void> {
    const answer = await asOperator(server, "/v1/notifications?status=delivered&limit=100");
    if (answer.status !== 200) throw new Error(await answer.text());
    await answer.text();
  }

  async #one(server: RunningServer, number: number): Promise<void> {
    const kind = number % 10;
    const bookingId = kind === 3 ? this.#booked.shift() : undefined;
    if (bookingId !== undefined) await cancel(server, bookingId);
    else if (kind === 5 || kind === 6) {
      const flightId = 1 + (number % seats.length);
      const hold = kind === 6;
      const request = { key: `key-${number}`, flightId, passengers: 1 + (number % 4), hold };
      const answer = await book(server, request);
      if (answer?.status !== 201) return;
      const id = String(answer.body["bookingId"]);
      const cents = Math.round(Number(answer.body["totalPrice"]) * 100);
      if (hold) await deliverPayment(server, "payment_intent.succeeded", id, cents);
      this.#booked.push(id);
    } else if (kind === 8) await addUser(server, number);
    else await deliver(server, number);
    if (number % 25 === 0) await this.readDelivered(server);
  }
}

async function addUser({ url }: RunningServer, number: number): Promise<void> {
  const body = { name: `User ${number}`, email: `user-${number}@example.com` };
  const request = post(body, { authorization: await authorization("user") });
  await (await fetch(`${url}/v1/users`, request)).text();
}

class ServiceClaims implements Claims {
  readonly #said = new Said();
  readonly hear = this.#said.hear.bind(this.#said);

  get count(): number {
    return this.#said.facts.size;
  }

  wrongIn(folder: string): Promise<Wrong> {
    return openedIn(folder, async (client) => [
      ...(await unsound(client)),
      ...lost(this.#said.facts, factsIn(client)),
      ...undecryptable(folder, client),
    ]);
  }
}
