import { nextTurn } from "../../../base/own-turn.ts";
import { AddressError } from "../../../base/public-address.ts";
import type { AddressRules } from "../address.ts";
import { bytesOf, type Message, type System, TransportError } from "../transport.ts";

import { brokerAddress, fillIn, requirePlaces, serverName } from "./broker-address.ts";

const example = "amqps://user:password@host/vhost?exchange=events&routingKey={provider}.{type}";

/** The largest frame of RabbitMQ: the headers of a message must fit into one. */
const frameBytes = 131_072;

/** Publishes to an exchange, and waits for the confirm (https://www.rabbitmq.com/docs/confirms). */
export const rabbitmq: System = {
  // A frame of a method, or the version that the server supports.
  firstBytes: "\u0001A",
  check: (text, rules) => targetOf(text, rules).address,
  async open(text, { rules, host, fail }) {
    const { address, exchange, routingKey } = targetOf(text, rules);
    const { port, user, password, path, isTls } = address;
    const { Connection } = await import("rabbitmq-client");
    const connection = new Connection({
      hostname: host,
      port,
      // Without a login, RabbitMQ's own for the same machine.
      username: user || "guest",
      password: password || "guest",
      vhost: path || "/",
      tls: isTls ? serverName(address) : false,
      frameMax: frameBytes,
      connectionName: "Skyhook",
    });
    // Otherwise it connects again by itself, and the message waits.
    connection.on("error", fail);
    const returned = new Map<string, string>();
    const publisher = connection.createPublisher({ confirm: true });
    publisher.on("basic.return", ({ messageId = "", replyText }) => {
      returned.set(messageId, replyText);
    });
    return async (message) => {
      const envelope = {
        exchange,
        routingKey: fillIn(routingKey, message),
        mandatory: true,
        durable: true,
        messageId: message.id,
        contentType: message.headers["content-type"] ?? "",
        timestamp: Math.floor(message.event.createdAt.getTime() / 1_000),
        appId: "skyhook",
        headers: headersOf(message),
      };
      try {
        await publisher.send(envelope, Buffer.from(bytesOf(message.body)));
      } catch (error) {
        throw messageTooLargeIn(error) ?? error;
      }
      // RabbitMQ returns a message without a queue before it confirms it. The library emits the return a turn later.
      await nextTurn();
      const reason = returned.get(message.id);
      returned.delete(message.id);
      if (reason !== undefined) {
        throw new TransportError(`RabbitMQ routes the message to no queue: ${reason}`);
      }
    };
  },
};

function targetOf(text: string, rules: AddressRules) {
  const shape = { schemes: ["amqps", "amqp"], ports: [5_671, 5_672], example } as const;
  const address = brokerAddress(text, shape, rules);
  const exchange = address.query.get("exchange") ?? "";
  const routingKey = address.query.get("routingKey") ?? "";
  if (!exchange && !routingKey) {
    throw new AddressError(`The URL must have exchange= or routingKey=, like ${example}`);
  }
  requirePlaces(routingKey);
  return { address, exchange, routingKey };
}

/** With the attributes of the CloudEvent (CloudEvents' AMQP binding 1.0, section 3.1.3), as RabbitMQ passes them on. */
function headersOf({ headers, attributes }: Message): Record<string, string> {
  const entries = Object.entries(attributes ?? {});
  const named = entries.map(([name, value]) => [`cloudEvents:${name}`, value]);
  return { ...headers, ...Object.fromEntries(named) };
}

/** The limit `max_message_size` of the server. */
function messageTooLargeIn(error: unknown): TransportError | null {
  const message = error instanceof Error ? error.message : "";
  return /message size \d+ is larger/.test(message)
    ? new TransportError(message, { isFinal: true, cause: error })
    : null;
}
