import type { Broker, Taken } from "../brokers.ts";

import { onBytes, sockets } from "./sockets.ts";

const info = {
  server_id: "emulator",
  version: "2.12.0",
  proto: 1,
  headers: true,
  max_payload: 1_048_576,
};
const idHeader = "Nats-Msg-Id";

/** As much of NATS as publishes to streams (https://docs.nats.io/reference/reference-protocols/nats-protocol). */
export async function natsEmulator(): Promise<Broker> {
  const streams = new Map<string, Map<string, Taken>>();
  /** What JetStream answers to a message, or null if no stream stores its subject. */
  const store = (subject: string, headers: Record<string, string>, body: string) => {
    const [topic = ""] = subject.split(".");
    const stored = streams.get(topic);
    if (stored === undefined) return null;
    if ((headers["Nats-Expected-Stream"] ?? topic) !== topic) {
      return {
        error: { code: 400, err_code: 10_060, description: "expected stream does not match" },
      };
    }
    const id = headers[idHeader] ?? "";
    const duplicate = stored.has(id);
    if (!duplicate) stored.set(id, { body, headers });
    return { stream: topic, seq: stored.size, duplicate };
  };
  const server = await sockets((socket) => {
    socket.write(`INFO ${JSON.stringify(info)}\r\n`);
    /** The subscription for answers. */
    let inbox = "1";
    onBytes(socket, (bytes) => {
      const end = bytes.indexOf("\r\n");
      if (end < 0) return 0;
      const [verb, ...words] = bytes.toString("latin1", 0, end).split(" ");
      if (verb === "PING") socket.write("PONG\r\n");
      if (verb === "SUB") inbox = words.at(-1) ?? "";
      if (verb !== "HPUB") return end + 2;
      const [subject = "", to = "", headSize = 0, size = 0] = words;
      const [headEnd, bodyEnd] = [end + 2 + Number(headSize), end + 2 + Number(size)];
      if (bytes.length < bodyEnd + 2) return 0;
      const headers = headersIn(bytes.toString("utf8", end + 2, headEnd));
      const answer = store(subject, headers, bytes.toString("utf8", headEnd, bodyEnd));
      const text = JSON.stringify(answer);
      const none = "NATS/1.0 503\r\n\r\n";
      socket.write(
        answer === null
          ? `HMSG ${to} ${inbox} ${none.length} ${none.length}\r\n${none}\r\n`
          : `MSG ${to} ${inbox} ${text.length}\r\n${text}\r\n`,
      );
      return bodyEnd + 2;
    });
  });
  return {
    name: "nats",
    address: (topic) =>
      `nats://127.0.0.1:${server.port}?subject=${topic}.{provider}.{type}&stream=${topic}`,
    prepare: async (topic) => void streams.set(topic, new Map()),
    read: async (topic) => [...(streams.get(topic)?.values() ?? [])],
    server,
    stop: server.kill,
  };
}

function headersIn(head: string): Record<string, string> {
  const lines = head.split("\r\n").slice(1).filter(Boolean);
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
    }),
  );
}
