import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

import { AddressError } from "../../../base/public-address.ts";
import type { AddressRules } from "../address.ts";
import { bytesOf, type Message, type System, TransportError } from "../transport.ts";

import { brokerAddress, fillIn, required, requirePlaces, serverName } from "./broker-address.ts";

const example = "rediss://user:password@host:6379/0?stream=events&maxLength=100000";
/** A simple text, a number, a short text such as the id of an entry, or an error. */
const replyAtStart = /^(?:[+:][^\r\n]*|\$-1|\$\d{1,3}\r\n[^\r\n]*|-([^\r\n]*))\r\n/;
const maxReplyCharacters = 4_096;
const notRedis = "the answer is not that of Redis";

/** Adds to a stream (https://redis.io/docs/latest/commands/xadd). */
export const redis: System = {
  firstBytes: "+-:$",
  check: (text, rules) => targetOf(text, rules).address,
  async open(text, { rules, host, fail }) {
    const { address, stream, maxLength } = targetOf(text, rules);
    const { port, user, password, path, isTls } = address;
    const socket = isTls ? connectTls({ host, port, ...serverName(address) }) : connect(port, host);
    const send = commander(socket, fail);
    if (user !== "" || password !== "")
      await send("AUTH", ...(user === "" ? [] : [user]), password);
    if (path !== "") await send("SELECT", path);
    const trim = maxLength === null ? [] : ["MAXLEN", "~", maxLength];
    return async (message) => {
      const { id, headers, body } = message;
      const fields = Object.entries({ id, ...headers }).flat();
      const entry = ["XADD", fillIn(stream, message), ...trim, "*", ...fields, "body", body];
      if (!/^\$\d/.test(await send(...entry))) throw new Error(notRedis);
    };
  },
};

function targetOf(text: string, rules: AddressRules) {
  const shape = { schemes: ["rediss", "redis"], ports: [6_379, 6_379], example } as const;
  const address = brokerAddress(text, shape, rules);
  const stream = required(address.query, "stream", example);
  requirePlaces(stream);
  const maxLength = address.query.get("maxLength");
  if (maxLength !== null && !/^[1-9]\d{0,9}$/.test(maxLength)) {
    throw new AddressError("maxLength= must be a whole number from 1");
  }
  if (!/^\d{0,3}$/.test(address.path)) {
    throw new AddressError("The path must be the number of a database, such as /0");
  }
  return { address, stream, maxLength };
}

/** Sends commands, and matches the replies by their order (https://redis.io/docs/latest/develop/reference/protocol-spec). */
function commander(socket: Socket, fail: (error: unknown) => void) {
  const waiting: PromiseWithResolvers<string>[] = [];
  let received = "";
  socket.on("error", fail).on("close", () => fail(new Error("the server closed the connection")));
  socket.setEncoding("latin1").on("data", (text: string) => {
    received += text;
    for (;;) {
      const [reply, error] = replyAtStart.exec(received) ?? [];
      if (reply === undefined) break;
      received = received.slice(reply.length);
      const call = waiting.shift();
      if (call === undefined) return fail(new Error(notRedis));
      if (error === undefined) call.resolve(reply);
      else call.reject(new TransportError(`Redis: ${error}`));
    }
    if (received.length > maxReplyCharacters) fail(new Error(notRedis));
  });
  return (...parts: readonly Message["body"][]): Promise<string> => {
    const command = parts.flatMap((part) => {
      const bytes = bytesOf(part);
      return [bytesOf(`$${bytes.length}\r\n`), bytes, bytesOf("\r\n")];
    });
    socket.write(Buffer.concat([bytesOf(`*${parts.length}\r\n`), ...command]));
    const reply = Promise.withResolvers<string>();
    waiting.push(reply);
    return reply.promise;
  };
}
