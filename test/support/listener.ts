import { expect } from "bun:test";

import { signatureHeaders } from "../../src/inbound/signatures/scheme.ts";
import { sign } from "../../src/inbound/signatures/sign.ts";

import { providerOf, until } from "./app.ts";
import { secretOf } from "./cli.ts";
import type { TestGateway } from "./gateway.ts";
import { spawnSkyhook, type Surroundings } from "./program.ts";

/** A running `skyhook listen` or `skyhook tail`. */
export function runningCommand(args: readonly string[], surroundings: Surroundings) {
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
    /** Resolves when the output on either stream contains a text. */
    async shows(text: string | RegExp, timeoutMs = 60_000) {
      const isShown = () =>
        typeof text === "string" ? (out + err).includes(text) : text.test(out + err);
      await until(isShown, timeoutMs).catch(() => {
        throw new Error(`Not shown in time: ${String(text)}\n${out}\n${err}`);
      });
    },
    async end(signal: "SIGTERM" | "SIGKILL" | "SIGINT" = "SIGTERM") {
      child.kill(signal);
      return child.exited;
    },
    /** Stops the process as a computer that sleeps does, until `wake`. */
    sleep: () => child.kill("SIGSTOP"),
    wake: () => child.kill("SIGCONT"),
  };
}

export type RunningCommand = ReturnType<typeof runningCommand>;

/** Delivers a webhook of task_tracker to a server with `allSecrets`. */
export async function deliverTask(
  server: { readonly url: string },
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
  status = 200,
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
  expect(response.status).toBe(status);
  await response.body?.cancel();
}

/** The body of a webhook. */
export const taskBody = (number: number | string): string =>
  JSON.stringify({ event_name: "item:completed", event_data: { id: `${number}`, content: "t" } });

/** The bodies that a local program received. */
export const sentTo = ({ received }: TestGateway): string[] => received.map(({ body }) => body);
