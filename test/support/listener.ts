import { expect } from "bun:test";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { signatureHeaders } from "../../src/inbound/signatures/scheme.ts";
import { sign } from "../../src/inbound/signatures/sign.ts";

import { providerOf } from "./app.ts";
import { secretOf } from "./cli.ts";
import { spawnSkyhook, type Surroundings } from "./program.ts";

/** One request that the local program received. */
export interface LocalRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** A local program on a port. The test decides its responses. */
export interface LocalProgram {
  readonly url: string;
  readonly port: number;
  readonly received: readonly LocalRequest[];
  stop(): Promise<void>;
}

export function localProgram(
  answer: (request: LocalRequest, number: number) => Response | Promise<Response> = () =>
    new Response("ok"),
  port = 0,
): LocalProgram {
  const received: LocalRequest[] = [];
  const server = Bun.serve({
    port,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const body = new Uint8Array(await request.arrayBuffer());
      const { pathname, search } = new URL(request.url);
      const entry = { url: pathname + search, headers: Object.fromEntries(request.headers), body };
      received.push(entry);
      const gone = Promise.withResolvers<Response>();
      request.signal.addEventListener("abort", () => gone.resolve(new Response()));
      return Promise.race([answer(entry, received.length), gone.promise]);
    },
  });
  return {
    url: server.url.href,
    port: server.port ?? 0,
    received,
    stop: () => server.stop(true),
  };
}

/** A running `skyhook listen` or `skyhook tail`. */
export interface RunningCommand {
  readonly out: () => string;
  readonly err: () => string;
  readonly exited: Promise<number>;
  /** Resolves when the output on either stream contains a text. */
  shows(text: string | RegExp, timeoutMs?: number): Promise<void>;
  end(signal?: "SIGTERM" | "SIGKILL" | "SIGINT"): Promise<number>;
  /** Stops the process as a computer that sleeps does, until `wake`. */
  sleep(): void;
  wake(): void;
}

export function runningCommand(
  args: readonly string[],
  surroundings: Surroundings,
): RunningCommand {
  const child = spawnSkyhook(args, surroundings);
  let [out, err] = ["", ""];
  const collect = async (stream: ReadableStream<Uint8Array>, add: (text: string) => void) => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) add(decoder.decode(chunk, { stream: true }));
  };
  void collect(child.stdout, (text) => (out += text));
  void collect(child.stderr, (text) => (err += text));
  return {
    out: () => out,
    err: () => err,
    exited: child.exited,
    async shows(text, timeoutMs = 60_000) {
      const deadline = performance.now() + timeoutMs;
      const isShown = () => {
        const all = out + err;
        return typeof text === "string" ? all.includes(text) : text.test(all);
      };
      while (!isShown()) {
        if (performance.now() > deadline) {
          throw new Error(`Not shown in time: ${String(text)}\n${out}\n${err}`);
        }
        await Bun.sleep(10);
      }
    },
    async end(signal = "SIGTERM") {
      child.kill(signal);
      return child.exited;
    },
    sleep: () => child.kill("SIGSTOP"),
    wake: () => child.kill("SIGCONT"),
  };
}

/** Delivers a webhook of task_tracker to a server with `allSecrets`. */
export async function deliverTask(
  server: { readonly url: string },
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<void> {
  const { signature } = providerOf("task_tracker");
  const bytes = new Uint8Array(Buffer.from(body));
  const [name = ""] = signatureHeaders(signature);
  const response = await fetch(`${server.url}/webhooks/task_tracker`, {
    method: "POST",
    body: bytes,
    headers: {
      "content-type": "application/json",
      [name]: sign(signature, secretOf("task_tracker"), bytes, Date.now()),
      ...headers,
    },
  });
  expect([200, 400]).toContain(response.status);
  await response.body?.cancel();
}

/** The body of a webhook. */
export const taskBody = (number: number | string): string =>
  JSON.stringify({ event_name: "item:completed", event_data: { id: `${number}`, content: "t" } });

export const textOf = ({ body }: LocalRequest): string => new TextDecoder().decode(body);
/** The bodies that a local program received. */
export const sentTo = ({ received }: LocalProgram): string[] => received.map(textOf);

/** A new folder in which a command keeps its state. */
export const stateFolder = (): string => mkdtempSync(join(tmpdir(), "skyhook-state-"));
