import { errorMessage } from "../../base/errors.ts";
import { AddressError } from "../../base/public-address.ts";

import type { AddressRules } from "./address.ts";
import {
  brokerAddress,
  hostToConnect,
  placed,
  required,
  requirePlaces,
  serverName,
} from "./broker-address.ts";
import { brokerTransport, type Client } from "./broker-connection.ts";
import { type ConnectionParts, TransportError } from "./transport.ts";

const example = "rediss://user:password@host:6379/0?stream=events&maxLength=100000";
const connectionTimeoutMs = 10_000;

/** Adds to a stream (https://redis.io/docs/latest/commands/xadd). */
export const redis = brokerTransport(targetOf, open);

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

async function open(
  { address, stream, maxLength }: ReturnType<typeof targetOf>,
  parts: ConnectionParts,
): Promise<Client> {
  const { port, user, password, path, isTls } = address;
  const host = await hostToConnect(address, parts);
  const { servername } = serverName(address);
  const url = new URL(`redis://${host.includes(":") ? `[${host}]` : host}:${port}/${path}`);
  url.username = encodeURIComponent(user);
  url.password = encodeURIComponent(password);
  const client = new Bun.RedisClient(url.href, {
    connectionTimeout: connectionTimeoutMs,
    autoReconnect: false,
    ...(isTls && { tls: servername === undefined ? true : { serverName: servername } }),
  });
  await client.connect().catch((error: unknown) => {
    client.close();
    throw new Error(`no connection to Redis: ${errorMessage(error)}`, { cause: error });
  });
  const trim = maxLength === null ? [] : ["MAXLEN", "~", maxLength];
  return {
    async send(message) {
      const { id, headers, body } = message;
      const fields = Object.entries({ id, ...headers }).flat();
      // Guarantee: the client sends bytes as they are; its type names texts only.
      const args = [placed(stream, message), ...trim, "*", ...fields, "body", body] as string[];
      try {
        await client.send("XADD", args);
      } catch (error) {
        const code = error instanceof Error && "code" in error ? error.code : null;
        if (error instanceof Error && code === "ERR_REDIS_SERVER_ERROR") {
          throw new TransportError(`Redis: ${error.message}`, { cause: error });
        }
        throw error;
      }
    },
    close: () => client.close(),
  };
}
