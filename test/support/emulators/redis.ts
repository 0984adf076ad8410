import type { Broker, Taken } from "../brokers.ts";

import { onBytes, sockets } from "./sockets.ts";

/** As much of Redis as adds to streams (https://redis.io/docs/latest/develop/reference/protocol-spec). */
export async function redisEmulator(password: string | null = null): Promise<Broker> {
  const streams = new Map<string, Taken[]>();
  const server = await sockets((socket) => {
    let isKnown = password === null;
    onBytes(socket, (bytes) => {
      const command = commandAt(bytes);
      if (command === null) return 0;
      isKnown ||= command.parts[0] === "AUTH" && command.parts.at(-1) === password;
      socket.write(isKnown ? reply(command.parts) : "-NOAUTH Authentication required.\r\n");
      return command.length;
    });
  });
  const reply = ([name, key = "", ...rest]: readonly string[]) => {
    if (name === "SELECT" || name === "AUTH") return "+OK\r\n";
    if (name !== "XADD") return "-ERR unknown command\r\n";
    const entries = streams.get(key) ?? [];
    streams.set(key, entries);
    const [trim, _, most] = rest;
    const fields = rest.slice(rest.indexOf("*") + 1);
    const pairs = fields.flatMap((field, index) =>
      index % 2 === 0 ? [[field, fields[index + 1] ?? ""] as const] : [],
    );
    const { body = "", ...headers } = Object.fromEntries(pairs);
    const id = `${entries.push({ body, headers })}-0`;
    if (trim === "MAXLEN") entries.splice(0, entries.length - Number(most));
    return `$${id.length}\r\n${id}\r\n`;
  };
  return {
    name: "redis",
    address: (topic) => `redis://127.0.0.1:${server.port}/0?stream=${topic}`,
    prepare: async (topic) => void streams.delete(topic),
    read: async (topic) => streams.get(topic) ?? [],
    server,
    stop: server.kill,
  };
}

/** The first command in the bytes: an array of texts with their lengths. Null: it is not complete. */
function commandAt(bytes: Buffer): { parts: readonly string[]; length: number } | null {
  let at = 0;
  const number = () => {
    const end = bytes.indexOf("\r\n", at);
    const value = end < 0 ? Number.NaN : Number(bytes.toString("latin1", at + 1, end));
    at = end + 2;
    return value;
  };
  const count = number();
  const parts: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const length = number();
    if (!(at + length + 2 <= bytes.length)) return null;
    parts.push(bytes.toString("utf8", at, at + length));
    at += length + 2;
  }
  return Number.isNaN(count) ? null : { parts, length: at };
}
