import { connectionError, errorMessage } from "../../../base/errors.ts";
import { unlessAborted } from "../../../base/in-time.ts";
import { AddressError } from "../../../base/public-address.ts";
import {
  type Connection,
  type ConnectionParts,
  type Message,
  type Transport,
  TransportError,
} from "../transport.ts";

import { hostToConnect } from "./broker-address.ts";
import type { ThreadAnswer, ThreadMessage, ThreadStart } from "./broker-thread.ts";
import { type SystemName, systems } from "./systems.ts";

const timeoutMs = 10_000;
const notConfirmed = `not confirmed within ${timeoutMs / 1_000} s`;
const idleMs = 60_000;

/** The thread of a connection, starting or running. */
interface Thread {
  /** Aborts when the connection breaks. */
  readonly broken: AbortSignal;
  /** How many messages wait for its answer. */
  sending: number;
  send(message: Message): Promise<void>;
  end(): void;
}

/** Sends with a library, on one thread for each destination. A thread uses about 5 MB. */
export function brokerTransport(name: SystemName): Transport {
  const system = systems[name];
  return {
    check: system.check,
    connect: (address, parts) =>
      brokerConnection(parts, async () => {
        const { rules } = parts;
        const host = await hostToConnect(system.check(address, rules), parts);
        return { name, address, rules, host };
      }),
  };
}

/**
 * A connection that is opened by the first message, shared by those that are sent at the same time, and closed after an
 * error, or a minute without messages.
 */
function brokerConnection(
  { clock }: ConnectionParts,
  place: () => Promise<ThreadStart>,
): Connection {
  let held: Thread | null = null;
  let cancelIdle = () => {};

  /** New messages do not use it. It ends when no message waits for it. */
  function drop(own: Thread): void {
    if (held === own) held = null;
    if (own.sending === 0) own.end();
  }

  return {
    async send(message, signal) {
      cancelIdle();
      if (held?.broken.aborted === true) held = null;
      const own = (held ??= startThread(place()));
      own.sending += 1;
      const tooLate = new AbortController();
      const cancelTimeout = clock.after(timeoutMs, () => tooLate.abort(new Error(notConfirmed)));
      let isUsable = true;
      try {
        const ended = AbortSignal.any([signal, tooLate.signal, own.broken]);
        await unlessAborted(ended, own.send(message));
      } catch (error) {
        isUsable = error instanceof TransportError;
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
    close() {
      cancelIdle();
      if (held !== null) drop(held);
    },
  };
}

function startThread(place: Promise<ThreadStart>): Thread {
  const broken = new AbortController();
  const waiting = new Map<number, PromiseWithResolvers<void>>();
  let calls = 0;
  const starting = place.then((start) => {
    // In the compiled program all entry points are in one folder (scripts/build.ts), hence the name alone.
    const worker = new Worker(new URL("./broker-thread.ts", import.meta.url));
    worker.addEventListener("error", ({ message }) => fail(new Error(message)));
    worker.addEventListener("close", () => fail(new Error("the thread of the connection ended")));
    worker.addEventListener("message", ({ data }: MessageEvent<ThreadAnswer>) => {
      const { call, error, isFinal } = data;
      if (call === null) return fail(new Error(error ?? ""));
      const answered = waiting.get(call);
      waiting.delete(call);
      if (error === null) answered?.resolve();
      else if (isFinal === null) answered?.reject(new Error(error));
      else answered?.reject(new TransportError(error, { isFinal }));
    });
    worker.postMessage(start);
    return worker;
  });
  const end = () => void starting.then((worker) => worker.terminate()).catch(fail);
  const fail = (error: unknown) => {
    if (broken.signal.aborted) return;
    broken.abort(error);
    end();
  };
  return {
    broken: broken.signal,
    sending: 0,
    async send(message) {
      const call = (calls += 1);
      const answered = Promise.withResolvers<void>();
      waiting.set(call, answered);
      (await starting).postMessage({ call, message } satisfies ThreadMessage);
      await answered.promise;
    },
    end,
  };
}
