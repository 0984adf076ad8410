import type { Operation } from "../../support/linearizability.ts";

import type { Cluster, Instance } from "./cluster.ts";
import { type Interface, interfaces } from "./flight-client.ts";
import type { Outcome } from "./send.ts";

/** A request to an object and its answer; null: unknown. */
interface Recorded<Request, Answer> extends Operation {
  /** The interface and instance it was sent to. */
  readonly through: string;
  readonly request: Request;
  readonly answer: Answer | null;
}

/** Where a request goes. */
export interface Route {
  readonly instance: Instance;
  readonly through: Interface;
}

/** The delay after a request that reached no program or has an unknown outcome. */
const pauseMs = 30;

/** Sends requests to the instances of a cluster, and measures when they were called and returned. */
export class Recorder {
  readonly #cluster: Cluster;
  readonly #random: () => number;
  #sent = 0;
  #unknown = 0;

  constructor(cluster: Cluster, random: () => number) {
    this.#cluster = cluster;
    this.#random = random;
  }

  /** The number of recorded operations, and of those with an unknown outcome. */
  get counts(): { readonly operations: number; readonly unknown: number } {
    return { operations: this.#sent, unknown: this.#unknown };
  }

  /** A running instance and an interface. */
  async route(): Promise<Route> {
    const instance = await this.#cluster.running(this.#random);
    return { instance, through: this.#random() < 0.5 ? interfaces[0] : interfaces[1] };
  }

  /** Sends one request. Returns null if it did not reach the program. */
  async timed<Answer>(
    { instance, through }: Route,
    send: (url: string, through: Interface) => Promise<Outcome<Answer>>,
  ): Promise<Omit<Recorded<never, Answer>, "request"> | null> {
    const callMs = performance.now();
    const outcome = await send(instance.url, through);
    const returnMs = performance.now();
    const isUnknown = outcome === "unknown";
    if (isUnknown || outcome === "refused") await Bun.sleep(pauseMs);
    if (outcome === "refused") return null;
    this.#sent += 1;
    if (isUnknown) this.#unknown += 1;
    return {
      through: `${through} ${instance.number}`,
      callMs,
      returnMs: isUnknown ? Infinity : returnMs,
      answer: isUnknown ? null : outcome,
    };
  }
}
