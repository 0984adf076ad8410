import { completeStatus, type LoadKind, makeRequests } from "./load.ts";
import { cpuMicrosOf, histogram, machineMicros, mainThreadOf } from "./measure.ts";
import { openLoop } from "./open-loop.ts";
import type { Requests } from "./requests.ts";

// The load generator of `bun run bench latency`, a separate process. Its argument is an OpenLoadPlan in JSON.
// It prints an OpenLoadResult in JSON.

export interface OpenLoadPlan {
  readonly port: number;
  readonly serverPid: number;
  readonly warmUpSeconds: number;
  readonly seconds: number;
  /** Run at the same time. */
  readonly streams: readonly StreamPlan[];
}

export interface StreamPlan {
  readonly send: LoadKind;
  readonly ratePerSecond: number;
  readonly connections: number;
}

export interface OpenLoadResult {
  readonly streams: readonly StreamResult[];
  /** CPU utilization of the server's main thread, of all its threads and of the load generator, in cores. */
  readonly mainBusy: number;
  /** How much of the time the server's main thread was ready to run, but other threads had the cores. */
  readonly mainWaiting: number;
  readonly serverBusy: number;
  readonly generatorBusy: number;
  /** The same for everything else on the machine, the kernel's threads included. */
  readonly othersBusy: number;
}

/** Latencies of the 2xx responses, in milliseconds from when their requests were due. */
export interface StreamResult {
  /** 2xx responses, including the warm-up. */
  readonly acknowledged: number;
  /** Other responses, including the warm-up. */
  readonly failed: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
  /** The part of p99 that the generator may have caused: how late it sent requests that had a free connection. */
  readonly sentLateP99Ms: number;
}

/** Requests that the server has not answered this long after the last was due make the run fail. */
const patienceMs = 60_000;
/** Time to open all connections before the first request is due. */
const leadMs = 100;

if (import.meta.main) {
  const plan: OpenLoadPlan = JSON.parse(process.argv[2] ?? "{}");
  console.log(JSON.stringify(await generate(plan)));
  process.exit(0);
}

async function generate(plan: OpenLoadPlan): Promise<OpenLoadResult> {
  const { warmUpSeconds, seconds, serverPid } = plan;
  const prepared: Requests[] = [];
  for (const { send, ratePerSecond } of plan.streams) {
    prepared.push(await makeRequests(send, Math.ceil(ratePerSecond * (warmUpSeconds + seconds))));
  }
  const begin = Promise.withResolvers<number>();
  const streams = Promise.all(
    plan.streams.map((stream, index) => {
      const requests = prepared[index];
      if (requests === undefined) throw new Error("A stream has no requests");
      return runStream(plan, stream, requests, begin.promise);
    }),
  );
  begin.resolve(performance.now() + leadMs);
  // An error of a stream aborts the run at once.
  await Promise.race([streams, Bun.sleep(leadMs + warmUpSeconds * 1_000)]);
  const start = sampleOf(serverPid);
  await Promise.race([streams, Bun.sleep(seconds * 1_000)]);
  const end = sampleOf(serverPid);
  const elapsedMicros = end.micros - start.micros;
  return {
    streams: await streams,
    mainBusy: (end.main.runMicros - start.main.runMicros) / elapsedMicros,
    mainWaiting: (end.main.waitMicros - start.main.waitMicros) / elapsedMicros,
    serverBusy: (end.serverMicros - start.serverMicros) / elapsedMicros,
    generatorBusy: (end.ownMicros - start.ownMicros) / elapsedMicros,
    othersBusy:
      (end.machineMicros -
        start.machineMicros -
        (end.serverMicros - start.serverMicros) -
        (end.ownMicros - start.ownMicros)) /
      elapsedMicros,
  };
}

function sampleOf(serverPid: number) {
  return {
    micros: performance.now() * 1_000,
    main: mainThreadOf(serverPid),
    serverMicros: cpuMicrosOf(serverPid),
    ownMicros: cpuMicrosOf(process.pid),
    machineMicros: machineMicros(),
  };
}

/** Sends the requests of a stream when they are due and waits for all responses. */
async function runStream(
  { port, warmUpSeconds, seconds }: OpenLoadPlan,
  { ratePerSecond, connections }: StreamPlan,
  requests: Requests,
  begin: Promise<number>,
): Promise<StreamResult> {
  const [latencies, late] = [histogram(), histogram()];
  const finished = Promise.withResolvers<void>();
  let startMs = 0;
  let [acknowledged, failed] = [0, 0];
  const nowMs = () => performance.now() - startMs;
  const loop = openLoop({
    ratePerSecond,
    connections,
    count: Math.ceil(ratePerSecond * (warmUpSeconds + seconds)),
    firstTimed: Math.ceil(ratePerSecond * warmUpSeconds),
    send(connection, request) {
      const bytes = requests.request(request % requests.count);
      // The socket buffer is empty after the previous response, and has room for a request.
      if ((sockets[connection]?.write(bytes) ?? 0) < bytes.length)
        finished.reject(new Error("A request was sent incompletely"));
    },
    sentLate: (lateMs) => late.record(lateMs),
  });

  let timer: Timer | undefined;
  function sendDue(): void {
    clearTimeout(timer);
    const nextMs = loop.sendDue(nowMs());
    if (nextMs !== null) timer = setTimeout(sendDue, Math.max(0, nextMs - nowMs()));
  }

  function answer(connection: number, status: number): void {
    const latencyMs = loop.answer(connection, nowMs());
    if (status < 200 || status > 299) failed += 1;
    else {
      acknowledged += 1;
      if (latencyMs !== null) latencies.record(latencyMs);
    }
    if (loop.isDone()) finished.resolve();
    else sendDue();
  }

  const sockets = await Promise.all(
    Array.from({ length: connections }, (_, connection) =>
      connect(port, (status) => answer(connection, status), finished.reject),
    ),
  );
  startMs = await begin;
  sendDue();
  const limitMs = leadMs + (warmUpSeconds + seconds) * 1_000 + patienceMs;
  const tooLate = setTimeout(
    () => finished.reject(new Error(`The server left requests unanswered for ${patienceMs} ms`)),
    limitMs,
  );
  await finished.promise;
  clearTimeout(tooLate);
  return {
    acknowledged,
    failed,
    p50Ms: latencies.quantile(0.5),
    p90Ms: latencies.quantile(0.9),
    p99Ms: latencies.quantile(0.99),
    p999Ms: latencies.quantile(0.999),
    maxMs: latencies.quantile(1),
    sentLateP99Ms: late.quantile(0.99),
  };
}

function connect(
  port: number,
  answered: (status: number) => void,
  failed: (error: Error) => void,
): Promise<Bun.Socket> {
  let received = "";
  return Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data(_, chunk) {
        received += chunk.toString("latin1");
        const status = completeStatus(received);
        if (status === null) return;
        received = "";
        answered(status);
      },
      error: (_, error) => failed(error),
      close: () => failed(new Error("The server closed a connection")),
    },
  });
}
