import { at } from "../../support/graphql.ts";
import { answerOf, get, type Send } from "../harness/requests.ts";
import {
  type Delivery,
  delivery,
  type ProviderId,
  signatureOf,
} from "../harness/signed-deliveries.ts";

import { known } from "./client.ts";
import type { DeliveryAnswer, DeliveryOperation, DeliveryRequest } from "./delivery.ts";
import type { Recorder, Route } from "./recorder.ts";

/** Requests about one delivery of a webhook, and what came of them. */
export class DeliveryHistory {
  readonly name: string;
  readonly operations: DeliveryOperation[] = [];
  readonly #delivery: Delivery;
  readonly #recorder: Recorder;
  /** Of an operator. */
  readonly #authorization: string;
  #eventId: string | null = null;

  constructor(provider: ProviderId, number: number, recorder: Recorder, authorization: string) {
    this.#delivery = delivery({ provider, kind: 0, number }, number);
    this.name = this.#delivery.key;
    this.#recorder = recorder;
    this.#authorization = authorization;
  }

  async deliver(times = 1): Promise<void> {
    const once = () => this.#ask({ does: "deliver" });
    await Promise.all(Array.from({ length: times }, once));
  }

  async readEvent(route?: Route): Promise<void> {
    if (this.#eventId === null) return this.deliver();
    await this.#ask({ does: "read event", eventId: this.#eventId }, route);
  }

  /** Settles an unknown outcome and reads the event by these routes. */
  async finish(routes: readonly Route[]): Promise<void> {
    if (this.#eventId === null) await this.deliver();
    for (const route of routes) await this.readEvent(route);
  }

  async #ask(request: DeliveryRequest, route?: Route): Promise<void> {
    const timed = await this.#recorder.timed(route ?? (await this.#recorder.route()), (send) =>
      request.does === "deliver" ? this.#deliver(send) : this.#read(send, request.eventId),
    );
    if (timed === null || (request.does === "read event" && timed.answer === null)) return;
    const { answer } = timed;
    if (answer?.is === "accepted" || answer?.is === "duplicate") this.#eventId ??= answer.eventId;
    const through = timed.through.replace("GraphQL", "REST");
    this.operations.push({ ...timed, through, request });
  }

  async #deliver(send: Send): Promise<DeliveryAnswer> {
    const { provider, body, headers: own } = this.#delivery;
    const headers = { "content-type": "application/json", ...own, ...signatureOf(provider, body) };
    const sent = await send(`/webhooks/${provider}`, { method: "POST", headers, body });
    const answer = known(await answerOf(sent));
    const status = at(answer.body, "status");
    if (answer.code === null && (status === "accepted" || status === "duplicate"))
      return { is: status, eventId: String(at(answer.body, "id")) };
    throw new Error(`A delivery was answered with ${JSON.stringify(answer.body)}`);
  }

  async #read(send: Send, eventId: string): Promise<DeliveryAnswer> {
    const { code, body } = known(await get(send, this.#authorization, `/v1/events/${eventId}`));
    return code === "not-found"
      ? { is: "not found" }
      : { is: "event", duplicates: Number(at(body, "receipt", "duplicates")) };
  }
}
