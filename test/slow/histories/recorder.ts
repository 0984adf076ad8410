import { until } from "../../support/app.ts";
import type { Operation } from "../../support/linearizability.ts";
import { type Interface, interfaces, Lost, type Send, to } from "../harness/requests.ts";
import type { World } from "../harness/world.ts";

/** A request to an object and its answer; null: unknown. */
interface Recorded<Request, Answer> extends Operation {
  /** The interface and instance it was sent to. */
  readonly through: string;
  readonly request: Request;
  readonly answer: Answer | null;
}

/** Where a request goes. */
export interface Route {
  readonly instance: World["instances"][number];
  readonly through: Interface;
}

/** The delay after a request that reached no program or has an unknown outcome. */
const pauseMs = 30;

/** Sends requests to the instances of a world, and measures when they were called and returned. */
export class Recorder {
  /** The number of recorded operations, and of those with an unknown outcome. */
  readonly counts = { operations: 0, unknown: 0 };

  constructor(
    readonly world: World,
    readonly random: () => number,
  ) {}

  /** An instance that is up. Waits for one. */
  async instance(): Promise<Route["instance"]> {
    await until(() => this.world.instances.length > 0);
    const { instances } = this.world;
    return instances[Math.floor(this.random() * instances.length)] ?? this.instance();
  }

  async route(): Promise<Route> {
    const instance = await this.instance();
    return { instance, through: this.random() < 0.5 ? interfaces[0] : interfaces[1] };
  }

  /** Sends one request. Returns null if it did not reach the program. */
  async timed<Answer>(
    { instance, through }: Route,
    ask: (send: Send, through: Interface) => Promise<Answer>,
  ): Promise<Omit<Recorded<never, Answer>, "request"> | null> {
    const sent = { through: `${through} ${instance.number + 1}`, callMs: performance.now() };
    try {
      const answer = await ask(to(instance), through);
      this.counts.operations += 1;
      return { ...sent, returnMs: performance.now(), answer };
    } catch (error) {
      if (!(error instanceof Lost)) throw error;
      await Bun.sleep(pauseMs);
      if (!error.wasSent) return null;
      this.counts.operations += 1;
      this.counts.unknown += 1;
      return { ...sent, returnMs: Infinity, answer: null };
    }
  }
}
