import { connectionError, errorMessage } from "../../base/errors.ts";
import { unlessAborted } from "../../base/in-time.ts";
import { AddressError } from "../../base/public-address.ts";

import { hostToConnect } from "./broker-address.ts";
import type { ThreadAnswer, ThreadMessage, ThreadStart } from "./broker-thread.ts";
import { type SystemName, systems } from "./systems.ts";
import {
  type Client,
  type Connection,
  type ConnectionParts,
  type Transport,
  TransportError,
} from "./transport.ts";

const timeoutMs = 10_000;
const notConfirmed = `not confirmed within ${timeoutMs / 1_000} s`;
const idleMs = 60_000;

/** A connection, as long as its thread. */
interface Thread extends Client {
  end(): void;
}

/** A thread that is starting or runs. */
interface Held {
  readonly thread: Promise<Thread>;
  /** How many messages wait for its answer. */
  sending: number;
}

/** Sends by a library on a thread of its own for each destination. It takes some 5 MB while it is used. */
export function brokerTransport(name: SystemName): Transport {
  const system = systems[name];
  return {
    check: (address, rules) => system.check(address, rules),
    connect: (address, parts) =>
      brokerConnection(parts, async (onEnd) => {
        const { rules } = parts;
        const host = await hostToConnect(system.check(address, rules), parts);
        return startThread({ name, address, rules, host }, onEnd);
      }),
  };
}

/**
 * A connection that is opened by the first message, shared by those that are sent at the same time, and closed after an
 * error, or a minute without messages.
 */
function brokerConnection(
  { clock }: ConnectionParts,
  open: (onEnd: () => void) => Promise<Thread>,
): Connection {
  let held: Held | null = null;
  let cancelIdle = () => {};

  function hold(): Held {
    const own = { thread: open(() => drop(own)), sending: 0 };
    return own;
  }

  /** No other message uses it. The last one that does ends it. */
  function drop(own: Held): void {
    if (held === own) held = null;
    if (own.sending === 0) own.thread.then((thread) => thread.end()).catch(() => {});
  }

  return {
    async send(message, signal) {
      cancelIdle();
      const own = (held ??= hold());
      own.sending += 1;
      const tooLate = new AbortController();
      const cancelTimeout = clock.after(timeoutMs, () => tooLate.abort(new Error(notConfirmed)));
      let isUsable = true;
      try {
        const sent = own.thread.then((thread) => thread.send(message));
        await unlessAborted(AbortSignal.any([signal, tooLate.signal]), sent);
      } catch (error) {
        isUsable = error instanceof TransportError && !signal.aborted;
        if (error instanceof TransportError || error instanceof AddressError) throw error;
        const reason = connectionError(error) ?? errorMessage(error);
        throw new TransportError(signal.aborted ? "interrupted" : reason, { cause: error });
      } finally {
        cancelTimeout();
        own.sending -= 1;
        if (!isUsable || held !== own) drop(own);
        else if (own.sending === 0) cancelIdle = clock.after(idleMs, () => drop(own));
      }
    },
    async close() {
      cancelIdle();
      if (held !== null) drop(held);
    },
  };
}

function startThread(start: ThreadStart, onEnd: () => void): Thread {
  // In the compiled program all entry points are in one folder (scripts/build.ts), hence the name alone.
  const worker = new Worker(new URL("./broker-thread.ts", import.meta.url));
  const waiting = new Map<number, PromiseWithResolvers<void>>();
  let calls = 0;
  let ended: Error | null = null;
  const post = (message: ThreadMessage) => worker.postMessage(message);

  function end(error: Error): void {
    if (ended !== null) return;
    ended = error;
    worker.terminate();
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
    onEnd();
  }

  worker.addEventListener("error", ({ message }) => end(new Error(message)));
  worker.addEventListener("close", () => end(new Error("the thread of the connection ended")));
  worker.addEventListener("message", ({ data }: MessageEvent<ThreadAnswer>) => {
    const { call, error, isFinal } = data;
    if (call === null) return end(new Error(error ?? ""));
    const answered = waiting.get(call);
    waiting.delete(call);
    if (error === null) answered?.resolve();
    else
      answered?.reject(
        isFinal === null ? new Error(error) : new TransportError(error, { isFinal }),
      );
  });
  post(start);
  return {
    async send(message) {
      if (ended !== null) throw ended;
      const answered = Promise.withResolvers<void>();
      waiting.set((calls += 1), answered);
      post({ call: calls, message });
      await answered.promise;
    },
    end: () => end(new Error("closed")),
  };
}
