import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { workerData } from "node:worker_threads";

import { shared, type Watched } from "./watch.ts";

// The thread that `watch` starts. It asks for /livez over one connection, again and again.

const pollIntervalMs = 20;
const tickIntervalMs = 10;

// What `watch` passes.
const { port, pid, memory }: Watched = workerData;
const cells = new Float64Array(memory);

const nowMs = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000;

/**
 * How long a thread was ready to run while the machine ran others: the second field of schedstat, in
 * nanoseconds (Linux, Documentation/scheduler/sched-stats.rst). A server that waits for a processor is
 * not blocked, and neither is one whose answer this thread was late to read.
 */
function waitedMs(file: string): number {
  const [, waitedNs = "0"] = contents(file).split(" ");
  return Number(waitedNs) / 1_000_000;
}

/** Empty when there is none: the process has ended, or the system keeps no such figures. */
function contents(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

const serverWaitedMs = (): number => waitedMs(`/proc/${pid}/schedstat`);
/** This thread's, at the last two ticks: a late answer is read after a tick that is as late. */
let ownWaitedMs: readonly [number, number] = [0, 0];

interface Poll {
  readonly sentAtMs: number;
  readonly serverWaitedMs: number;
}
let poll: Poll | null = null;

function tick(): void {
  const own = waitedMs("/proc/thread-self/schedstat");
  // What is not answered counts already.
  record(own - ownWaitedMs[0]);
  ownWaitedMs = [ownWaitedMs[1], own];
  const kibibytes = /^RssAnon:\s+(\d+) kB/m.exec(contents(`/proc/${pid}/status`))?.[1];
  const bytes = Number(kibibytes ?? 0) * 1_024;
  cells[shared.anonymousBytes] = bytes;
  if (bytes > (cells[shared.peakBytes] ?? 0)) cells[shared.peakBytes] = bytes;
}

function record(readLateMs: number): void {
  if (poll === null) return;
  const explainedMs = serverWaitedMs() - poll.serverWaitedMs + readLateMs;
  const tookMs = nowMs() - poll.sentAtMs - explainedMs;
  if (tookMs > (cells[shared.worstMs] ?? 0)) cells[shared.worstMs] = tookMs;
}

let socket: Socket = open();

function open(): Socket {
  const opened = connect(port, "127.0.0.1", () => {
    // What was under way when a connection broke off is still not answered.
    poll ??= { sentAtMs: nowMs(), serverWaitedMs: serverWaitedMs() };
    opened.write("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
  });
  opened.on("data", (data) => {
    if (!data.includes("HTTP/1.1 200")) return;
    record(waitedMs("/proc/thread-self/schedstat") - ownWaitedMs[0]);
    poll = null;
    cells[shared.answers] = (cells[shared.answers] ?? 0) + 1;
    setTimeout(ask, pollIntervalMs);
  });
  opened.on("error", () => opened.destroy());
  opened.on("close", () => {
    poll ??= { sentAtMs: nowMs(), serverWaitedMs: serverWaitedMs() };
    setTimeout(() => (socket = open()), pollIntervalMs);
  });
  return opened;
}

function ask(): void {
  // A connection that is being opened asks by itself.
  if (!socket.writable) return;
  poll = { sentAtMs: nowMs(), serverWaitedMs: serverWaitedMs() };
  socket.write("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

setInterval(tick, tickIntervalMs);
