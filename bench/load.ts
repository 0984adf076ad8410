import {
  bookingRequests,
  type BookingsPlan,
  pageRequests,
  type PagesPlan,
  type QueryPlan,
  queryRequests,
} from "./api-requests.ts";
import { type DeliveryPlan, signedDeliveries } from "./deliveries.ts";
import { cpuMicrosOf, histogram } from "./measure.ts";
import type { Requests } from "./requests.ts";

// The load generator: a process of its own, so that it can have a core of its own. Its one argument is
// a LoadPlan in JSON, its one line of output a LoadResult.

export interface LoadPlan {
  readonly send: Sent;
  readonly port: number;
  readonly serverPid: number;
  readonly connections: number;
  readonly warmUpSeconds: number;
  readonly seconds: number;
  /** Requests made ready; when they have run out, the timing ends, or they are sent once more. */
  readonly requests: number;
  readonly repeats: boolean;
}

export type Sent =
  | ({ readonly kind: "deliveries" } & DeliveryPlan)
  | ({ readonly kind: "bookings" } & BookingsPlan)
  | ({ readonly kind: "pages" } & PagesPlan)
  | ({ readonly kind: "query" } & QueryPlan);

export interface LoadResult {
  readonly bodyBytes: number;
  /** Answered with 2xx, warm-up included. Any other answer ends the run with an error. */
  readonly acknowledged: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The server's processor time for one request. */
  readonly cpuMicros: number;
  /** Share of the time for which the server kept its core busy, and the generator its own. */
  readonly serverBusy: number;
  readonly generatorBusy: number;
}

if (import.meta.main) {
  const plan: LoadPlan = JSON.parse(process.argv[2] ?? "{}");
  console.log(JSON.stringify(await generate(plan)));
  process.exit(0);
}

function make(send: Sent, count: number): Requests | Promise<Requests> {
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

/** Warms the server up, measures it for `seconds`, and waits for the answers still under way. */
async function generate(plan: LoadPlan): Promise<LoadResult> {
  const { warmUpSeconds, seconds, connections } = plan;
  const made = await make(plan.send, plan.requests);
  const latencies = histogram();
  let next = 0;
  let acknowledged = 0;
  let phase: "warm-up" | "timed" | "over" = "warm-up";
  const runOut = Promise.withResolvers<void>();

  /** The bytes of the next request; null when it is time to stop. */
  function takeRequest(): Uint8Array | null {
    if (next === made.count && plan.repeats) next = 0;
    if (next === made.count) runOut.resolve();
    if (phase === "over" || next === made.count) return null;
    return made.request(next++);
  }

  function answered(status: number, latencyMs: number): void {
    if (status < 200 || status > 299) throw new Error(`The server answered ${status}`);
    acknowledged += 1;
    if (phase === "timed") latencies.record(latencyMs);
  }

  const over = Promise.all(
    Array.from({ length: connections }, () => converse(plan.port, takeRequest, answered)),
  );
  // An error ends the run at once.
  await Promise.race([over, Bun.sleep(warmUpSeconds * 1_000)]);
  phase = "timed";
  const start = sampleOf(plan.serverPid, acknowledged);
  await Promise.race([over, runOut.promise, Bun.sleep(seconds * 1_000)]);
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
    serverBusy: serverMicros / elapsedMicros,
    generatorBusy: (end.ownMicros - start.ownMicros) / elapsedMicros,
  };
}

function sampleOf(serverPid: number, acknowledged: number) {
  return {
    acknowledged,
    micros: performance.now() * 1_000,
    serverMicros: cpuMicrosOf(serverPid),
    ownMicros: cpuMicrosOf(process.pid),
  };
}

/**
 * Keeps one connection busy, one request at a time, until there is no next one. `waitMs`: how long to
 * wait before the next one.
 */
export async function converse(
  port: number,
  takeRequest: () => Uint8Array | null,
  answered: (status: number, latencyMs: number) => void,
  waitMs: () => number = () => 0,
): Promise<void> {
  const finished = Promise.withResolvers<void>();
  let sentMs = 0;

  function send(socket: Bun.Socket): void {
    const request = takeRequest();
    if (request === null) return finished.resolve();
    sentMs = performance.now();
    // One request fits in a socket's buffer: the one before it has been answered.
    if (socket.write(request) < request.length) throw new Error("A request was not sent whole");
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
        const pause = waitMs();
        if (pause > 0) setTimeout(send, pause, self);
        else send(self);
      },
      error: (_, error) => finished.reject(error),
      close: () => finished.reject(new Error("The server closed a connection")),
    },
  });
  send(socket);
  await finished.promise;
  socket.end();
}

/** The status of an answer once it is there as a whole, else null. */
function completeStatus(answer: string): number | null {
  const headEnd = answer.indexOf("\r\n\r\n");
  if (headEnd === -1) return null;
  const bodyLength = /\r\ncontent-length: *(\d+)/i.exec(answer)?.[1];
  if (bodyLength === undefined) throw new Error(`An answer has no length: ${answer}`);
  if (answer.length < headEnd + 4 + Number(bodyLength)) return null;
  return Number(answer.slice(9, 12));
}
