import { connect, type Socket } from "node:net";
import { parentPort, workerData } from "node:worker_threads";

import { completeStatus } from "../../../bench/load.ts";
import { cpuMicrosOf } from "../../../bench/measure.ts";
import { textOf } from "../../../bench/requests.ts";
import { signatureOf } from "../../support/app.ts";
import { bookingBody } from "../../support/flights.ts";

import {
  type BystanderPlan,
  lastAttackedFlight,
  type Observation,
  type Stream,
  streams,
} from "./bystander.ts";
import { openLoop } from "./open-loop.ts";
import { nowMs, ownWaitedMs, processWaitedMs } from "./waits.ts";
import { flights } from "./world.ts";

// The thread that `bystander` starts. The message "begin" starts a load; "end" ends it and returns the observation.

/** A shorter load would not give a reliable rate. */
const minimumMs = 1_000;
/** A request without a response this long after the end, not counting waits, gets that time as its latency. */
const patienceMs = 1_500;
/** The same with waits: on a busy machine, server and thread together can wait longer than time passes. */
const longestPatienceMs = 15_000;
const tickIntervalMs = 10;

// Guarantee: `bystander` passes a plan.
const { port, pid, tokens }: BystanderPlan = workerData;

const requests: Readonly<Record<Stream, (number: number) => string>> = {
  webhooks() {
    const json = JSON.stringify({ event_name: "item:added", id: crypto.randomUUID() });
    const headers = { ...signatureOf("task_tracker", json), "X-Forwarded-For": "192.0.2.1" };
    return textOf({ method: "POST", path: "/webhooks/task_tracker", headers, json });
  },
  bookings(number) {
    const flight = lastAttackedFlight + 1 + (number % (flights - lastAttackedFlight));
    const token = tokens[number % tokens.length];
    const headers = { Authorization: `Bearer ${token}`, "X-Forwarded-For": "192.0.2.2" };
    const json = JSON.stringify(bookingBody(flight));
    return textOf({ method: "POST", path: "/v1/api/bookings", headers, json });
  },
};

/** How long server and this thread had waited for a processor at the last ticks, the newest last. */
const ticks: { readonly atMs: number; readonly waitedMs: number }[] = [];

const waitedMs = (): number => processWaitedMs(pid) + ownWaitedMs();

/** Milliseconds waited since a time, from the beginning of the tick that contains it. */
function waitedSince(sinceMs: number): number {
  const tick = ticks.findLast(({ atMs }) => atMs <= sinceMs) ?? ticks[0];
  return waitedMs() - (tick?.waitedMs ?? 0);
}

interface Ended {
  readonly acknowledged: number;
  readonly perSecond: number;
  readonly p99Ms: number;
}

interface Load {
  /** Stops without a result. */
  close(): void;
  end(): Promise<Ended>;
}

/** Sends the requests of a stream when they are due, until it ends. */
function load(stream: Stream): Load {
  const { ratePerSecond, connections } = streams[stream];
  const startMs = nowMs();
  const latencies: number[] = [];
  let acknowledged = 0;
  let endMs = Infinity;
  const loop = openLoop({
    ratePerSecond,
    connections,
    count: Infinity,
    firstTimed: 0,
    send: (connection, number) => lines[connection]?.send(requests[stream](number)),
    // A latency counts from when the request was due; what this thread waited is subtracted from it.
    sentLate() {},
  });

  let timer: Timer | undefined;
  function sendDue(): void {
    clearTimeout(timer);
    const atMs = nowMs() - startMs;
    const nextMs = loop.sendDue(Math.min(atMs, endMs));
    if (nextMs !== null && nextMs <= endMs) timer = setTimeout(sendDue, Math.max(0, nextMs - atMs));
  }

  const lines = Array.from({ length: connections }, (_, connection) =>
    openLine((status) => {
      const atMs = nowMs();
      const tookMs = loop.answer(connection, atMs - startMs) ?? 0;
      latencies.push(Math.max(0, tookMs - waitedSince(atMs - tookMs)));
      // Responses after the end count for latencies, not for the rate.
      if (status >= 200 && status <= 299 && endMs === Infinity) acknowledged += 1;
      sendDue();
    }),
  );
  sendDue();

  function close(): void {
    clearTimeout(timer);
    for (const line of lines) line.close();
  }

  return {
    close,
    async end() {
      const lastedMs = nowMs() - startMs;
      endMs = lastedMs;
      // The machine may not have let them run at all.
      const runMs = Math.max(lastedMs - waitedSince(startMs), lastedMs / 10);
      const due = Math.floor((endMs * ratePerSecond) / 1_000) + 1;
      const endedMs = nowMs();
      const isWithinPatience = () => {
        const passedMs = nowMs() - endedMs;
        return passedMs < longestPatienceMs && passedMs - waitedSince(endedMs) < patienceMs;
      };
      while (latencies.length < due && isWithinPatience()) await Bun.sleep(5);
      close();
      while (latencies.length < due) latencies.push(patienceMs);
      const perSecond = Math.min((acknowledged * 1_000) / runMs, ratePerSecond);
      const sorted = latencies.toSorted((one, other) => one - other);
      return { acknowledged, perSecond, p99Ms: sorted[Math.ceil(due * 0.99) - 1] ?? 0 };
    },
  };
}

interface Line {
  send(request: string): void;
  close(): void;
}

/** A connection that takes one request at a time. If the server closes it meanwhile, the status is 0. */
function openLine(answered: (status: number) => void): Line {
  let socket: Socket | null = null;
  let received = "";
  let isBusy = false;

  function open(): Socket {
    const opened = connect(port, "127.0.0.1");
    opened.on("data", (data) => {
      received += data.toString("latin1");
      const status = completeStatus(received);
      if (status !== null) finish(status);
    });
    opened.on("error", () => opened.destroy());
    opened.on("close", () => {
      socket = null;
      finish(0);
    });
    return opened;
  }

  function finish(status: number): void {
    received = "";
    if (!isBusy) return;
    isBusy = false;
    answered(status);
  }

  return {
    send(request) {
      isBusy = true;
      socket ??= open();
      socket.write(request);
    },
    close() {
      isBusy = false;
      socket?.destroy();
    },
  };
}

interface Running {
  readonly begunMs: number;
  readonly begunMicros: number;
  readonly webhooks: Load;
  readonly bookings: Load;
}

let running: Running | null = null;
let last: Observation | null = null;

function begin(): void {
  running?.webhooks.close();
  running?.bookings.close();
  const begunMs = nowMs();
  ticks.splice(0, ticks.length, { atMs: begunMs, waitedMs: waitedMs() });
  running = {
    begunMs,
    begunMicros: cpuMicrosOf(pid),
    webhooks: load("webhooks"),
    bookings: load("bookings"),
  };
}

async function end(): Promise<Observation | null> {
  if (running === null) return last;
  const { begunMs, begunMicros, ...loads } = running;
  running = null;
  await Bun.sleep(Math.max(0, begunMs + minimumMs - nowMs()));
  const [webhooks, bookings] = await Promise.all([loads.webhooks.end(), loads.bookings.end()]);
  last = {
    perSecond: { webhooks: webhooks.perSecond, bookings: bookings.perSecond },
    p99Ms: Math.max(webhooks.p99Ms, bookings.p99Ms),
    costMicros: (cpuMicrosOf(pid) - begunMicros) / (webhooks.acknowledged + bookings.acknowledged),
  };
  return last;
}

setInterval(() => ticks.push({ atMs: nowMs(), waitedMs: waitedMs() }), tickIntervalMs);

parentPort?.on("message", (message: "begin" | "end") => {
  if (message === "begin") begin();
  else void end().then((seen) => parentPort?.postMessage(seen));
});
