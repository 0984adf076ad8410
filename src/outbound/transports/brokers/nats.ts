import type { AddressRules } from "../address.ts";
import { bytesOf, type Message, type System, TransportError } from "../transport.ts";

import { brokerAddress, fillIn, required, requirePlaces, serverName } from "./broker-address.ts";

const example = "tls://user:password@host:4222?subject=events.{provider}.{type}";

/** The message of the library's error if no stream stores the subject. */
const notStored = "jetstream is not enabled";
/** Longer than the connection waits, which ends the attempt. */
const libraryTimeoutMs = 15_000;

/** Publishes to a stream of JetStream, and waits for its acknowledgement. */
export const nats: System = {
  // INFO or -ERR.
  firstBytes: "I-",
  check: (text, rules) => targetOf(text, rules).address,
  async open(text, { rules, host, fail }) {
    const { address, subject, stream } = targetOf(text, rules);
    const { port, user, password, isTls } = address;
    const [{ connect, headers }, { jetstream, JetStreamApiError }] = await Promise.all([
      import("@nats-io/transport-node"),
      import("@nats-io/jetstream"),
    ]);
    const connection = await connect({
      servers: `${host.includes(":") ? `[${host}]` : host}:${port}`,
      name: "Skyhook",
      // A name without a password is a token.
      ...(password === "" ? user !== "" && { token: user } : { user, pass: password }),
      // Null turns TLS off. Without it, the library upgrades if the server offers TLS, and checks the certificate.
      tls: isTls ? { handshakeFirst: false, ...serverName(address) } : null,
      ignoreClusterUpdates: true,
      reconnect: false,
      timeout: libraryTimeoutMs,
    });
    void connection.closed().then((error) => fail(error ?? new Error("the server closed it")));
    const stored = jetstream(connection);
    return async (message) => {
      const sent = headers();
      const entries = headersOf(message);
      for (const [name, value] of entries) sent.append(name, value);
      const limit = connection.info?.max_payload ?? Number.POSITIVE_INFINITY;
      const body = bytesOf(message.body);
      if (body.length + sizeOf(entries) > limit) {
        throw new TransportError(`NATS takes at most ${limit} bytes`, { isFinal: true });
      }
      try {
        // An acknowledgement of a repeated message says so, and is as good.
        await stored.publish(fillIn(subject, message), body, {
          msgID: message.id,
          headers: sent,
          timeout: libraryTimeoutMs,
          ...(stream !== null && { expect: { streamName: stream } }),
        });
      } catch (error) {
        if (error instanceof Error && error.message === notStored) {
          const where = fillIn(subject, message);
          throw new TransportError(`no stream of JetStream stores ${where}`, { cause: error });
        }
        if (error instanceof JetStreamApiError) {
          throw new TransportError(`JetStream: ${error.message}`, { cause: error });
        }
        throw error;
      }
    };
  },
};

function targetOf(text: string, rules: AddressRules) {
  const shape = { schemes: ["tls", "nats"], ports: [4_222, 4_222], example } as const;
  const address = brokerAddress(text, shape, rules);
  const subject = required(address.query, "subject", example);
  requirePlaces(subject);
  return { address, subject, stream: address.query.get("stream") };
}

/** With the attributes of the CloudEvent (CloudEvents' NATS binding 1.0, section 3.1.3). */
function headersOf({ headers, attributes }: Message): readonly (readonly [string, string])[] {
  const named = Object.entries(attributes ?? {}).map(([name, value]): [string, string] => [
    `ce-${name}`,
    // Percent-encoded as in HTTP (section 3.1.3.2): headers are ASCII.
    value.replaceAll(/[^\x21-\x7e]|[%"]/gu, (character) => encodeURIComponent(character)),
  ]);
  return [...Object.entries(headers), ...named];
}

/** The bytes of all headers, each with a colon, a space and a line break, and of the lines around them. */
function sizeOf(entries: ReturnType<typeof headersOf>): number {
  const lines = entries.map(([name, value]) => name.length + value.length + 4);
  return lines.reduce((sum, length) => sum + length, 100);
}
