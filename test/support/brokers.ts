import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { Connection } from "rabbitmq-client";

import type { BrokerName } from "../../src/outbound/transports/transports.ts";

import { until } from "./app.ts";
import { freePort } from "./free-port.ts";

/** A message as a consumer got it. */
export interface Taken {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A message system that a test sends to. */
export interface Broker {
  readonly name: BrokerName;
  /** What a destination's address is. */
  address(topic: string): string;
  /** Makes the queue, stream or bucket. */
  prepare(topic: string): Promise<void>;
  /** All messages there, in order. */
  read(topic: string): Promise<readonly Taken[]>;
  /** Ends the server with SIGKILL, and starts it again with what it had stored. Null: it is not the test's own. */
  readonly server: { kill(): Promise<void>; start(): Promise<void> } | null;
  stop(): Promise<void>;
}

export const textsOf = (entries: Iterable<readonly [string, unknown]>) =>
  Object.fromEntries(Array.from(entries, ([name, value]) => [name, String(value)]));

function rabbitmq(port: number): Omit<Broker, "server" | "stop"> {
  const url = `amqp://guest:guest@127.0.0.1:${port}`;
  const using = async <Result>(work: (connection: Connection) => Promise<Result>) => {
    const connection = new Connection(url);
    connection.on("error", () => {});
    try {
      return await work(connection);
    } finally {
      await connection.close();
    }
  };
  return {
    name: "rabbitmq",
    address: (topic) => `${url}/?routingKey=${topic}`,
    prepare: (topic) =>
      using(async (connection) => {
        await connection.queueDelete(topic);
        await connection.queueDeclare({ queue: topic, durable: true });
      }),
    read: (topic) =>
      using(async (connection) => {
        const taken: Taken[] = [];
        for (;;) {
          const message = await connection.basicGet({ queue: topic, noAck: true });
          if (message === undefined) return taken;
          const { body, headers } = message;
          const text =
            Buffer.isBuffer(body) || typeof body === "string" ? String(body) : JSON.stringify(body);
          taken.push({ body: text, headers: textsOf(Object.entries(headers ?? {})) });
        }
      }),
  };
}

function nats(port: number): Omit<Broker, "server" | "stop"> {
  const servers = `127.0.0.1:${port}`;
  return {
    name: "nats",
    address: (topic) => `nats://${servers}?subject=${topic}.{provider}.{type}&stream=${topic}`,
    async prepare(topic) {
      const connection = await connect({ servers });
      const manager = await jetstreamManager(connection);
      await manager.streams.delete(topic).catch(() => {});
      await manager.streams.add({
        name: topic,
        subjects: [`${topic}.>`],
        duplicate_window: 120_000_000_000,
      });
      await connection.close();
    },
    async read(topic) {
      const connection = await connect({ servers });
      const manager = await jetstreamManager(connection);
      const { state } = await manager.streams.info(topic);
      const taken: Taken[] = [];
      if (state.messages > 0) {
        const consumer = await jetstream(connection).consumers.get(topic);
        for await (const message of await consumer.consume({ max_messages: 500 })) {
          const headers = message.headers ?? [];
          taken.push({
            body: message.string(),
            headers: textsOf(Array.from(headers, ([name, [value = ""]]) => [name, value])),
          });
          if (message.info.pending === 0) break;
        }
      }
      await connection.close();
      return taken;
    },
  };
}

function redis(port: number): Omit<Broker, "server" | "stop"> {
  const url = `redis://127.0.0.1:${port}`;
  return {
    name: "redis",
    address: (topic) => `${url}/0?stream=${topic}`,
    async prepare(topic) {
      const client = new Bun.RedisClient(url);
      await client.send("DEL", [topic]);
      client.close();
    },
    async read(topic) {
      const client = new Bun.RedisClient(url);
      const entries: readonly [string, readonly string[]][] = await client.send("XRANGE", [
        topic,
        "-",
        "+",
      ]);
      client.close();
      return entries.map(([, fields]) => {
        const pairs = Array.from(
          { length: fields.length / 2 },
          (_, index) => [fields[2 * index] ?? "", fields[2 * index + 1]] as const,
        );
        const { body = "", ...headers } = textsOf(pairs);
        return { body, headers };
      });
    },
  };
}

const clients = {
  rabbitmq: [rabbitmq, 5_672],
  nats: [nats, 4_222],
  redis: [redis, 6_379],
} as const;
type ServerName = keyof typeof clients;

/** Whether a server listens on a port of this machine. */
export async function listens(port: number): Promise<boolean> {
  try {
    (await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } })).end();
    return true;
  } catch {
    return false;
  }
}

/** The server that runs on its usual port; null if none does. */
export async function brokerHere(name: ServerName): Promise<Broker | null> {
  const [client, port] = clients[name];
  if (!(await listens(port))) return null;
  return { ...client(port), server: null, stop: async () => {} };
}

/** Why tests with a server on its usual port are skipped if none runs. */
export const noBroker = (name: string): string => `${name} does not listen on its usual port`;

/** Null: the program is not installed. */
export const serverProgram = (name: ServerName): string | null => {
  // Debian's own command of RabbitMQ changes the user, who cannot write into our folder.
  const folders = ["/usr/lib/rabbitmq/bin", process.env["PATH"], "/usr/sbin"];
  return Bun.which(`${name}-server`, { PATH: folders.join(":") });
};

const redisKeepsAll = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""];

/** A server of our own on a free port, with its data in `folder`. */
export async function ownBroker(name: ServerName, folder: string): Promise<Broker> {
  const program = serverProgram(name);
  if (program === null) throw new Error(`${name}-server is not installed`);
  const port = freePort();
  const data = join(folder, name);
  mkdirSync(data, { recursive: true });
  const erlangPort = freePort();
  const commands: Readonly<Record<ServerName, readonly string[]>> = {
    rabbitmq: [program],
    nats: [program, "-js", "-a", "127.0.0.1", "-p", String(port), "-sd", data],
    redis: [program, "--port", String(port), "--dir", data, ...redisKeepsAll],
  };
  writeFileSync(join(data, "enabled_plugins"), "[].");
  writeFileSync(join(data, "rabbitmq.conf"), `listeners.tcp.1 = 127.0.0.1:${port}\n`);
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: data,
    RABBITMQ_NODENAME: `skyhook-${port}@localhost`,
    RABBITMQ_CONFIG_FILE: join(data, "rabbitmq.conf"),
    RABBITMQ_CONF_ENV_FILE: "/dev/null",
    RABBITMQ_DIST_PORT: String(erlangPort),
    RABBITMQ_MNESIA_BASE: data,
    RABBITMQ_LOG_BASE: data,
    RABBITMQ_ENABLED_PLUGINS_FILE: join(data, "enabled_plugins"),
    RABBITMQ_PID_FILE: join(data, "pid"),
  };
  const start = async () => {
    // In a group of its own: RabbitMQ's shell starts the virtual machine.
    const child = Bun.spawn(["setsid", ...commands[name]], {
      env,
      stdio: ["ignore", "ignore", "ignore"],
    });
    await until(() => listens(port), 60_000);
    return child;
  };
  let child = await start();
  const kill = async () => {
    Bun.spawnSync(["kill", "-9", "--", `-${child.pid}`]);
    await child.exited;
    await until(async () => !(await listens(port)), 20_000);
  };
  const [client] = clients[name];
  return {
    ...client(port),
    server: {
      kill,
      async start() {
        child = await start();
      },
    },
    stop: kill,
  };
}
