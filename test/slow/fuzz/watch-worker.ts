import { connect, type Socket } from "node:net";
import { workerData } from "node:worker_threads";

import { contentsOf, nowMs, ownWaitedMs, processWaitedMs } from "./waits.ts";
import { shared, type Watched } from "./watch.ts";

// The thread that `watch` starts. It asks for /livez over one connection, again and again.

const pollIntervalMs = 20;
const tickIntervalMs = 10;

// What `watch` passes.
const { port, pid, memory }: Watched = workerData;
const cells = new Float64Array(memory);

const serverWaitedMs = (): number => processWaitedMs(pid);
/** How long this thread had waited at the last two ticks. If it reads a response late, the tick before is late too. */
let waitedAtTicks: readonly [number, number] = [0, 0];

interface Poll {
  readonly sentAtMs: number;
  readonly serverWaitedMs: number;
}
let poll: Poll | null = null;

function tick(): void {
  const own = ownWaitedMs();
  // What is not answered counts already.
  record(own - waitedAtTicks[0]);
  waitedAtTicks = [waitedAtTicks[1], own];
  const kibibytes = /^RssAnon:\s+(\d+) kB/m.exec(contentsOf(`/proc/${pid}/status`))?.[1];
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
    record(ownWaitedMs() - waitedAtTicks[0]);
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
