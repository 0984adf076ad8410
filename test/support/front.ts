import { randomBytes } from "node:crypto";
import { connect, createServer, type Socket } from "node:net";

/** What stands at the address of a message system instead of it. */
export type Stranger =
  | "a web server"
  | "random bytes"
  | "zeros without end"
  | "a line without end"
  | "an announced length of 2 GiB"
  | "tiny answers without end"
  | "TLS garbage"
  | "silence";

/** How an answer of each system begins, a short one, and one that announces 2 GiB. */
const beginnings = {
  rabbitmq: ["\u0001", "\u0001\0\0\0\0\0\u0004\0\u000a\0\u000b\u00ce", "\u0001\0\0\u0080\0\0\0"],
  nats: ["INFO ", 'INFO {"max_payload":1048576}\r\nPING\r\n', "INFO {}\r\nMSG a 1 2147483648\r\n"],
  redis: ["+", "+\r\n", "$2147483648\r\n"],
  smtp: ["220 ", "220-\r\n", "220-2147483648\r\n"],
} as const;
export type FrontedName = keyof typeof beginnings;

/** The address of a message system, where a stranger can take its place. `port`: of the system, on this machine. */
export async function front(name: FrontedName, port: number, first: Stranger | null = null) {
  let stranger = first;
  let made = 0;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    made += 1;
    open.add(client.on("error", () => {}));
    client.on("close", () => open.delete(client));
    if (stranger === null) {
      const system = connect(port, "127.0.0.1");
      const end = () => {
        client.destroy();
        system.destroy();
      };
      for (const side of [client, system]) side.on("error", end).on("close", end);
      client.pipe(system).pipe(client);
    } else answerAs(stranger, client);
  });

  function answerAs(kind: Stranger, client: Socket): void {
    const [begin, short, announced] = beginnings[name];
    const bytes = (text: string) => Buffer.from(text, "latin1");
    const flood = (start: string, chunk: Uint8Array) => {
      client.write(bytes(start));
      const more = () => {
        while (!client.destroyed && client.write(chunk));
      };
      client.on("drain", more);
      more();
    };
    client.on("data", () => {
      if (kind === "a web server") {
        client.end("HTTP/1.1 400 Bad Request\r\nserver: stranger\r\n\r\n<h1>stranger\u001b[31m");
      }
    });
    const large = 256 * 1_024;
    if (kind === "random bytes") flood("", randomBytes(large));
    if (kind === "zeros without end") flood("", new Uint8Array(large));
    if (kind === "a line without end") flood(begin, bytes("a".repeat(large)));
    if (kind === "an announced length of 2 GiB") flood(announced, bytes("a".repeat(large)));
    if (kind === "tiny answers without end") flood(short, bytes(short.repeat(large / 16)));
    if (kind === "TLS garbage") flood("\u0016\u0003\u0001\u0002\0", randomBytes(large));
  }

  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const end = () => {
    for (const client of open) client.destroy();
  };
  return {
    port: address.port,
    /** Ends all connections. Null: the system is back. */
    replace(by: Stranger | null) {
      stranger = by;
      end();
    },
    /** All connections that were made, and those that are open. */
    connections: () => ({ made, open: open.size }),
    stop() {
      end();
      server.close();
    },
  };
}
