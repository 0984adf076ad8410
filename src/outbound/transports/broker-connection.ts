import { errorMessage } from "../../base/errors.ts";
import { AddressError } from "../../base/public-address.ts";

import type { AddressRules } from "./address.ts";
import {
  type Connection,
  type ConnectionParts,
  type Endpoint,
  type Message,
  type Transport,
  TransportError,
} from "./transport.ts";

/** An open connection of a library. */
export interface Client {
  /** Resolves when the system has confirmed. Throws a `TransportError` if the connection can still be used. */
  send(message: Message): Promise<void>;
  /** Ends it at once and forgets what is not confirmed. */
  close(): void;
}

const timeoutMs = 10_000;
const idleMs = 60_000;

/**
 * A message system that keeps a connection. `targetOf`: parses an address, or throws an `AddressError`. `open`: opens a
 * connection with the system's library, which is loaded then.
 */
export function brokerTransport<Target extends { readonly address: Endpoint }>(
  targetOf: (text: string, rules: AddressRules) => Target,
  open: (target: Target, parts: ConnectionParts) => Promise<Client>,
): Transport {
  return {
    check: (text, rules) => targetOf(text, rules).address,
    connect: (text, parts) =>
      brokerConnection(parts, async () => open(targetOf(text, parts.rules), parts)),
  };
}

/**
 * A connection that is opened by the first message, shared by those that are sent at the same time, and closed after an
 * error, or a minute without messages.
 */
function brokerConnection({ clock }: ConnectionParts, open: () => Promise<Client>): Connection {
  let opening: Promise<Client> | null = null;
  let sending = 0;
  let cancelIdle = () => {};

  /** Closes this connection, unless a later one has replaced it. */
  function drop(which: Promise<Client> | null): void {
    if (which === null || opening !== which) return;
    opening = null;
    // One that fails to open has nothing to close.
    which.then((client) => client.close()).catch(() => {});
  }

  function rest(): void {
    const current = opening;
    if (sending === 0) cancelIdle = clock.after(idleMs, () => drop(current));
  }

  return {
    async send(message, signal) {
      cancelIdle();
      sending += 1;
      const own = (opening ??= open());
      const ended = Promise.withResolvers<never>();
      const interrupt = () => ended.reject(new TransportError("interrupted"));
      signal.addEventListener("abort", interrupt, { once: true });
      const cancelTimeout = clock.after(timeoutMs, () =>
        ended.reject(new Error(`not confirmed within ${timeoutMs / 1_000} s`)),
      );
      try {
        const sent = own.then((client) => client.send(message));
        await Promise.race([sent, ended.promise]);
      } catch (error) {
        if (error instanceof TransportError) throw error;
        drop(own);
        if (error instanceof AddressError) throw error;
        throw new TransportError(errorMessage(error), { cause: error });
      } finally {
        cancelTimeout();
        signal.removeEventListener("abort", interrupt);
        sending -= 1;
        rest();
      }
    },
    async close() {
      cancelIdle();
      drop(opening);
    },
  };
}

/** The text or bytes of a body. */
export function bytesOf(body: Message["body"]): Uint8Array<ArrayBuffer> {
  return typeof body === "string" ? new Uint8Array(Buffer.from(body)) : body;
}
