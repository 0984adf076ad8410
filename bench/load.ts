import {
  bookingRequests,
  type BookingsPlan,
  pageRequests,
  type PagesPlan,
  type QueryPlan,
  queryRequests,
} from "./api-requests.ts";
import { type DeliveryPlan, signedDeliveries } from "./deliveries.ts";
import { cpuMicrosOf, histogram, mainMicrosOf } from "./measure.ts";
import type { Requests } from "./requests.ts";

// The load generator. It is a separate process, so that it can run on a separate core. Its argument is a
// LoadPlan in JSON. It prints a LoadResult in JSON.

export interface LoadPlan {
  readonly send: LoadKind;
  readonly port: number;
  readonly serverPid: number;
  readonly connections: number;
  /** How many requests are answered before the timing starts. */
  readonly warmUp: number;
  readonly seconds: number;
  /** The number of requests to prepare. After the last one, the timing ends, or with `repeats` they are sent again. */
  readonly requests: number;
  readonly repeats: boolean;
}

export type LoadKind =
  | ({ readonly kind: "deliveries" } & DeliveryPlan)
  | ({ readonly kind: "bookings" } & BookingsPlan)
  | ({ readonly kind: "pages" } & PagesPlan)
  | ({ readonly kind: "query" } & QueryPlan);

export interface LoadResult {
  readonly bodyBytes: number;
  /** 2xx responses, including the warm-up. Any other response aborts the run. */
  readonly acknowledged: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The CPU time of the server per request, and the part of its main thread. */
  readonly cpuMicros: number;
  readonly mainCpuMicros: number;
  /** CPU utilization of the cores of the server and of the load generator, from 0 to 1. */
  readonly serverBusy: number;
  readonly generatorBusy: number;
}

if (import.meta.main) {
  const plan: LoadPlan = JSON.parse(process.argv[2] ?? "{}");
  console.log(JSON.stringify(await generate(plan)));
  process.exit(0);
}

function makeRequests(send: LoadKind, count: number): Requests | Promise<Requests> {
  switch (send.kind) {
    case "deliveries":
      return signedDeliveries(send, count);
    case "bookings":
      return bookingRequests(send, count);
    case "pages":
      return pageRequests(send);
    case "query":
      return queryRequests(send);
  }
}

/** Warms up the server by a number of requests, measures it for `seconds` and waits for pending responses. */
async function generate(plan: LoadPlan): Promise<LoadResult> {
  const { warmUp, seconds, connections } = plan;
  const made = await makeRequests(plan.send, plan.requests);
  const latencies = histogram();
  let next = 0;
  let acknowledged = 0;
  let phase: "warm-up" | "timed" | "over" = "warm-up";
  const [warm, exhausted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  if (warmUp === 0) warm.resolve();

  /** The bytes of the next request; null after the end of the run. */
  function takeRequest(): Uint8Array | null {
    if (next === made.count && plan.repeats) next = 0;
    if (next === made.count) exhausted.resolve();
    if (phase === "over" || next === made.count) return null;
    return made.request(next++);
  }

  function answered(status: number, latencyMs: number): void {
    if (status < 200 || status > 299) throw new Error(`The server responded with ${status}`);
    acknowledged += 1;
    if (acknowledged === warmUp) warm.resolve();
    if (phase === "timed") latencies.record(latencyMs);
  }

  const over = Promise.all(
    Array.from({ length: connections }, () => converse(plan.port, takeRequest, answered)),
  );
  // An error aborts the run at once.
  await Promise.race([over, warm.promise]);
  phase = "timed";
  const start = sampleOf(plan.serverPid, acknowledged);
  await Promise.race([over, exhausted.promise, Bun.sleep(seconds * 1_000)]);
  phase = "over";
  const end = sampleOf(plan.serverPid, acknowledged);
  await over;

  const elapsedMicros = end.micros - start.micros;
  const requests = end.acknowledged - start.acknowledged;
  const serverMicros = end.serverMicros - start.serverMicros;
  return {
    bodyBytes: made.bodyBytes,
    acknowledged,
    requestsPerSecond: requests / (elapsedMicros / 1e6),
    p50Ms: latencies.quantile(0.5),
    p99Ms: latencies.quantile(0.99),
    cpuMicros: serverMicros / requests,
    mainCpuMicros: (end.mainMicros - start.mainMicros) / requests,
    serverBusy: serverMicros / elapsedMicros,
    generatorBusy: (end.ownMicros - start.ownMicros) / elapsedMicros,
  };
}

function sampleOf(serverPid: number, acknowledged: number) {
  return {
    acknowledged,
    micros: performance.now() * 1_000,
    serverMicros: cpuMicrosOf(serverPid),
    mainMicros: mainMicrosOf(serverPid),
    ownMicros: cpuMicrosOf(process.pid),
  };
}

/**
 * Sends requests over one connection, one at a time, until `takeRequest` returns null.
 */
async function converse(
  port: number,
  takeRequest: () => Uint8Array | null,
  answered: (status: number, latencyMs: number) => void,
): Promise<void> {
  const finished = Promise.withResolvers<void>();
  let sentMs = 0;

  function send(socket: Bun.Socket): void {
    const request = takeRequest();
    if (request === null) return finished.resolve();
    sentMs = performance.now();
    // The socket buffer is empty after the previous response, and has room for a request.
    if (socket.write(request) < request.length) throw new Error("A request was sent incompletely");
  }

  let received = "";
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data(self, chunk) {
        received += chunk.toString("latin1");
        const status = completeStatus(received);
        if (status === null) return;
        received = "";
        answered(status, performance.now() - sentMs);
        send(self);
      },
      error: (_, error) => finished.reject(error),
      close: () => finished.reject(new Error("The server closed a connection")),
    },
  });
  send(socket);
  await finished.promise;
  socket.end();
}

/** The status of a complete response; null if more data must follow. */
export function completeStatus(answer: string): number | null {
  const headEnd = answer.indexOf("\r\n\r\n");
  if (headEnd === -1) return null;
  const bodyLength = /\r\ncontent-length: *(\d+)/i.exec(answer)?.[1];
  if (bodyLength === undefined) throw new Error(`A response has no Content-Length: ${answer}`);
  if (answer.length < headEnd + 4 + Number(bodyLength)) return null;
  return Number(answer.slice(9, 12));
}
