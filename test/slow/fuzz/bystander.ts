import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";

import { tokenFor } from "../../support/load.ts";

/** Measures how other clients are served while a server is attacked. */
export interface Bystander {
  /** Starts a new measurement: one client posts webhooks and another one books seats, at a steady rate. */
  begin(): void;
  /** Ends the load once it has lasted a second. A second call without `begin` returns the same observation. */
  end(): Promise<Observation>;
  stop(): Promise<unknown>;
}

export interface Observation {
  /** Successful responses per second, without the time in which the machine ran other programs. */
  readonly perSecond: Readonly<Record<Stream, number>>;
  /** The 99th percentile of the slower of both, in ms from when the request was due. */
  readonly p99Ms: number;
  /** All processor time of the server, divided by successful responses, in microseconds. */
  readonly costMicros: number;
}

/** Far below what a server can handle, so that only an attack slows these requests down. */
export const streams = {
  webhooks: { ratePerSecond: 200, connections: 32 },
  bookings: { ratePerSecond: 25, connections: 8 },
} as const;
export type Stream = keyof typeof streams;

/** The bystander books on the flights after this one, attackers on those up to it. */
export const lastAttackedFlight = 10;

/** During an attack, the bystander must keep this share of its usual rate. */
const minRateShare = 0.5;
const p99LimitMs = 500;

/** The faults of an attack that harmed the bystander. `livezLimitMs`: the pause that the attack may cause. */
export function harmDone(
  usual: Observation,
  seen: Observation,
  livezLimitMs: number,
): readonly string[] {
  const limitMs = Math.max(p99LimitMs, livezLimitMs);
  const rates = streamNames.map((name) =>
    seen.perSecond[name] < usual.perSecond[name] * minRateShare
      ? `${name} of the bystander fell from ${rate(usual, name)} to ${rate(seen, name)} a second`
      : null,
  );
  const late = seen.p99Ms > limitMs ? `p99 of the bystander over ${limitMs} ms` : null;
  return [...rates, late].filter((fault) => fault !== null);
}

const streamNames: readonly Stream[] = ["webhooks", "bookings"];
const rate = ({ perSecond }: Observation, name: Stream) => Math.round(perSecond[name]);

/** The rates and the latency, and what the webhooks keep of their rate without an attack. */
export function observed(usual: Observation, seen: Observation): string {
  const share = Math.round((100 * seen.perSecond.webhooks) / usual.perSecond.webhooks);
  const rates = streamNames.map((name) => rate(seen, name)).join("+");
  const slower = (seen.p99Ms / Math.max(1, usual.p99Ms)).toFixed(1);
  return `bystander ${rates}/s (${share} %), p99 ${Math.round(seen.p99Ms)} ms (×${slower})`;
}

/** The data that the thread receives at its start. */
export interface BystanderPlan {
  readonly port: number;
  readonly pid: number;
  /** Of users who book in turn, each below the limit of writes. */
  readonly tokens: readonly string[];
}

/** Starts a bystander in a thread of its own, because the attacking thread is busy. */
export async function bystander(server: Omit<BystanderPlan, "tokens">): Promise<Bystander> {
  const users = Array.from({ length: 8 }, (_, n) => tokenFor("user", `fuzz-bystander-${n}`));
  const workerData: BystanderPlan = { ...server, tokens: await Promise.all(users) };
  const worker = new Worker(join(import.meta.dir, "bystander-worker.ts"), { workerData });
  return {
    begin: () => worker.postMessage("begin"),
    async end() {
      const answer = once(worker, "message");
      worker.postMessage("end");
      const seen: readonly Observation[] = await answer;
      if (seen[0] === undefined) throw new Error("The bystander returned no observation");
      return seen[0];
    },
    stop: () => worker.terminate(),
  };
}
