import { connect, type Socket } from "node:net";

import { signatureOf } from "../../../support/app.ts";
import type { Stdout, Victim } from "../victim.ts";

/** One thing that a client does to a server to stop it or to fill its memory. */
export interface Attack {
  readonly name: string;
  /** What it sends, in one line. */
  readonly about: string;
  /** How long it may hold up `/livez`, in ms; by default `livezLimitMs`. */
  readonly livezLimitMs?: number;
  /** Memory that it may take; by default `growthLimitBytes`. */
  readonly growthLimitBytes?: number;
  /** When it is aborted; by default after `attackLimitMs`. */
  readonly limitMs?: number;
  /** Whether it stores so many rows that the next attack needs a new server. */
  readonly leavesRows?: boolean;
  /** What the server logs to while it is attacked. */
  readonly stdout?: Stdout;
  /** Throws when an answer is not what it has to be. */
  run(victim: Victim): Promise<void>;
}

/** Calls `send` with 0 to `count` - 1, `atOnce` of them at a time. */
export async function flood(
  count: number,
  atOnce: number,
  send: (number: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) {
      next += 1;
      await send(next - 1);
    }
  };
  await Promise.all(Array.from({ length: Math.min(count, atOnce) }, lane));
}

/** Reads an answer to its end. Throws where the server is at fault, and does not merely decline. */
export async function answered(answer: Promise<Response>): Promise<number> {
  const response = await answer;
  const text = await response.text();
  if (response.status >= 500 && response.status !== 503) {
    throw new Error(`Answered ${response.status}: ${text.slice(0, 300)}`);
  }
  return response.status;
}

export function expectStatus(status: number, expected: number): void {
  if (status !== expected) throw new Error(`Answered ${status} where it must be ${expected}`);
}

/** A refusal may be lost in the reset of a connection whose body nobody reads: then its status is 0. */
export function expectRefused(status: number): void {
  if (status !== 0) expectStatus(status, 400);
}

export function post(body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}) {
  return { method: "POST", body, headers: { "content-type": "application/json", ...headers } };
}

/** Posts a query, and reads the answer. */
export function ask({ fetch }: Victim, query: string, variables: object = {}): Promise<number> {
  return answered(fetch("/graphql", post(JSON.stringify({ query, variables }))));
}

/** A signed delivery that nobody sent before; its answer's status. */
export function deliver(
  { fetch }: Victim,
  provider = "task_tracker",
  padding = 0,
): Promise<number> {
  const id = crypto.randomUUID();
  const body = JSON.stringify({ event_name: "item:added", id, padding: "x".repeat(padding) });
  return answered(fetch(`/webhooks/${provider}`, post(body, signatureOf(provider, body))));
}

/** A bare connection: it sends what no HTTP library would. */
export class Wire {
  received = "";
  closed = false;
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (data) => {
      // The start of an answer is all that anyone looks at.
      if (this.received.length < 100_000) this.received += data.toString("latin1");
    });
    socket.on("error", () => socket.destroy());
    socket.on("close", () => (this.closed = true));
  }

  static open({ port }: Pick<Victim, "port">): Promise<Wire> {
    const socket = connect(port, "127.0.0.1");
    const wire = new Wire(socket);
    return new Promise((resolve, reject) => {
      socket.once("connect", () => resolve(wire));
      socket.once("close", () => reject(new Error("The server takes no connection")));
    });
  }

  /** Resolves when the system has taken it over; false when the connection is closed. */
  async send(data: string | Uint8Array): Promise<boolean> {
    if (this.closed || !this.#socket.writable) return false;
    const taken = this.#socket.write(typeof data === "string" ? Buffer.from(data, "latin1") : data);
    while (!taken && this.#socket.writableNeedDrain && !this.closed) await Bun.sleep(1);
    return !this.closed;
  }

  /** Ends our side alone. */
  halfClose(): void {
    this.#socket.end();
  }

  /** No longer takes what the server sends. */
  stopReading(): void {
    this.#socket.pause();
  }

  /** The status of the first answer; 0 when the connection is closed, or silent, without one. */
  async status(timeoutMs = 2_000): Promise<number> {
    const deadline = performance.now() + timeoutMs;
    while (!this.closed && !this.received.includes("\r\n") && performance.now() < deadline) {
      await Bun.sleep(2);
    }
    return Number(/^HTTP\/1\.1 (\d{3}) /.exec(this.received)?.[1] ?? 0);
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}

/** Opens many connections, hands them to `use`, and closes them. */
export async function withWires(
  victim: Victim,
  count: number,
  use: (wires: readonly Wire[]) => Promise<unknown>,
): Promise<void> {
  const wires: Wire[] = [];
  try {
    await flood(count, 100, async () => wires.push(await Wire.open(victim)));
    await use(wires);
  } finally {
    for (const wire of wires) wire[Symbol.dispose]();
  }
}

let heads = 0;

/** A request's head, its lines ended as HTTP has it, from a client address of its own. */
export function head(first: string, ...headers: readonly string[]): string {
  heads += 1;
  const address = `X-Forwarded-For: 172.16.${(heads >> 8) & 255}.${heads & 255}`;
  return [`${first} HTTP/1.1`, "Host: localhost", address, ...headers, "", ""].join("\r\n");
}

export const mebibyte = 2 ** 20;
