import type { Broker, Taken } from "../brokers.ts";

import { onBytes, sockets } from "./sockets.ts";

interface Stored extends Taken {
  readonly isDurable: boolean;
}

const [methodFrame, headerFrame, bodyFrame] = [1, 2, 3];
const frameEnd = 0xce;
const maxMessageBytes = 1_048_576;
/** By class and number (https://www.rabbitmq.com/resources/specs/amqp0-9-1.pdf). */
const methods = {
  connectionStart: 0x0a000a,
  connectionStartOk: 0x0a000b,
  connectionTune: 0x0a001e,
  connectionOpen: 0x0a0028,
  connectionOpenOk: 0x0a0029,
  connectionClose: 0x0a0032,
  connectionCloseOk: 0x0a0033,
  channelOpen: 0x14000a,
  channelOpenOk: 0x14000b,
  channelClose: 0x140028,
  publish: 0x3c0028,
  return: 0x3c0032,
  ack: 0x3c0050,
  confirmSelect: 0x55000a,
  confirmSelectOk: 0x55000b,
} as const;

const u16 = (value: number) => Buffer.from([value >> 8, value & 0xff]);
const u32 = (value: number) => Buffer.concat([u16(value >>> 16), u16(value & 0xffff)]);
const u64 = (value: number) => Buffer.concat([u32(0), u32(value)]);
const short = (text: string) => Buffer.from([text.length, ...Buffer.from(text)]);
const long = (text: string) => Buffer.concat([u32(text.length), Buffer.from(text)]);

function frame(type: number, channel: number, ...parts: readonly Uint8Array[]): Buffer {
  const payload = Buffer.concat(parts);
  const head = [Buffer.from([type]), u16(channel), u32(payload.length)];
  return Buffer.concat([...head, payload, Buffer.from([frameEnd])]);
}

/** Reads the values of a frame one after the other. */
class Values {
  readonly #bytes: Buffer;
  #at = 0;
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }
  take(length: number): Buffer {
    return this.#bytes.subarray(this.#at, (this.#at += length));
  }
  number = (length: number) => this.take(length).readUIntBE(0, length);
  short = () => this.take(this.number(1)).toString();
  long = () => this.take(this.number(4));
  /** A table of texts. */
  texts(): Record<string, string> {
    const [inner, texts] = [new Values(this.long()), new Map<string, string>()];
    while (inner.#at < inner.#bytes.length) {
      const name = inner.short();
      inner.take(1);
      texts.set(name, inner.long().toString());
    }
    return Object.fromEntries(texts);
  }
}

/** The message that a channel is receiving. */
interface Receiving {
  readonly exchange: string;
  readonly key: string;
  /** Whether it is returned if no queue takes it. */
  readonly isMandatory: boolean;
  head: Buffer;
  readonly bodies: Buffer[];
}

/** As much of RabbitMQ as publishes to queues by the default exchange, with confirms. */
export async function rabbitmqEmulator(): Promise<Broker> {
  const queues = new Map<string, Stored[]>();
  const server = await sockets((socket) => {
    let receiving: Receiving = {
      exchange: "",
      key: "",
      isMandatory: false,
      head: Buffer.alloc(0),
      bodies: [],
    };
    let tag = 0;
    const send = (channel: number, method: number, ...parts: readonly Uint8Array[]) =>
      socket.write(frame(methodFrame, channel, u32(method), ...parts));
    const close = (channel: number, method: number, code: number, text: string) =>
      send(channel, method, u16(code), short(text), u32(methods.publish));
    const answers: Readonly<Record<number, (channel: number, values: Values) => void>> = {
      [methods.connectionStartOk](channel, values) {
        values.long();
        values.short();
        if (values.long().toString() === "\0guest\0guest") {
          send(channel, methods.connectionTune, u16(2_047), u32(131_072), u16(0));
        } else {
          close(channel, methods.connectionClose, 403, "ACCESS_REFUSED - Login was refused");
        }
      },
      [methods.connectionOpen]: (channel) => send(channel, methods.connectionOpenOk, short("")),
      [methods.connectionClose]: (channel) => send(channel, methods.connectionCloseOk),
      [methods.channelOpen]: (channel) => send(channel, methods.channelOpenOk, u32(0)),
      [methods.confirmSelect]: (channel) => send(channel, methods.confirmSelectOk),
      [methods.publish](_, values) {
        values.take(2);
        const [exchange, key] = [values.short(), values.short()];
        const isMandatory = (values.number(1) & 1) === 1;
        receiving = { exchange, key, isMandatory, head: Buffer.alloc(0), bodies: [] };
      },
    };
    const received = (channel: number) => {
      const { exchange, key, isMandatory, head, bodies } = receiving;
      if (exchange !== "") {
        return close(channel, methods.channelClose, 404, `NOT_FOUND - no exchange '${exchange}'`);
      }
      const body = Buffer.concat(bodies);
      if (body.length > maxMessageBytes) {
        const detail = `message size ${body.length} is larger than configured max size ${maxMessageBytes}`;
        return close(channel, methods.channelClose, 406, `PRECONDITION_FAILED - ${detail}`);
      }
      const queue = queues.get(key);
      queue?.push(storedOf(head, body.toString()));
      if (queue === undefined && isMandatory) {
        send(channel, methods.return, u16(312), short("NO_ROUTE"), short(exchange), short(key));
        socket.write(frame(headerFrame, channel, head));
        for (const body of bodies) socket.write(frame(bodyFrame, channel, body));
      }
      send(channel, methods.ack, u64((tag += 1)), Buffer.from([0]));
    };
    onBytes(socket, (bytes) => {
      if (bytes.toString("latin1", 0, 4) === "AMQP") {
        const version = Buffer.from([0, 9]);
        send(0, methods.connectionStart, version, u32(0), long("PLAIN"), long("en_US"));
        return 8;
      }
      const size = bytes.length < 7 ? Number.POSITIVE_INFINITY : bytes.readUInt32BE(3);
      if (bytes.length < size + 8) return 0;
      const [type, channel] = [bytes[0], bytes.readUInt16BE(1)];
      const payload = bytes.subarray(7, 7 + size);
      if (type === methodFrame) {
        const values = new Values(payload);
        answers[values.number(4)]?.(channel, values);
      } else {
        if (type === headerFrame) receiving.head = payload;
        if (type === bodyFrame) receiving.bodies.push(payload);
        const isWhole = Buffer.concat(receiving.bodies).length === receiving.head.readUInt32BE(8);
        if (isWhole) received(channel);
      }
      return size + 8;
    });
  });
  return {
    name: "rabbitmq",
    address: (topic) => `amqp://guest:guest@127.0.0.1:${server.port}/?routingKey=${topic}`,
    prepare: async (topic) => void queues.set(topic, []),
    read: async (topic) => queues.get(topic)?.splice(0) ?? [],
    server: {
      async kill() {
        await server.kill();
        for (const [name, queue] of queues) {
          queues.set(
            name,
            queue.filter(({ isDurable }) => isDurable),
          );
        }
      },
      start: server.start,
    },
    stop: server.kill,
  };
}

/** The properties of a message in their order, each with its flag. */
function storedOf(head: Buffer, body: string): Stored {
  const values = new Values(head);
  values.take(12);
  const flags = values.number(2);
  if ((flags & 0x8000) !== 0) values.short();
  const headers = (flags & 0x2000) === 0 ? {} : values.texts();
  const isDurable = (flags & 0x1000) !== 0 && values.number(1) === 2;
  return { body, headers, isDurable };
}
