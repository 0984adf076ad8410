import { createServer, type Socket } from "node:net";

/** A server in this process that can be ended like a killed one, and started again on its port. */
export interface Sockets {
  readonly port: number;
  readonly kill: () => Promise<void>;
  readonly start: () => Promise<void>;
}

/** Serves each connection with `serve`. */
export async function sockets(serve: (socket: Socket) => void): Promise<Sockets> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket.on("error", () => {}).on("close", () => open.delete(socket)));
    serve(socket);
  });
  const listen = (port: number) =>
    new Promise<void>((resolve) => void server.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const { port } = address;
  return {
    port,
    kill() {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      for (const socket of open) socket.destroy();
      return closed;
    },
    start: () => listen(port),
  };
}

/** Calls `take` with all bytes that are not used yet, until it uses none. Returns what is left of them. */
export function onBytes(socket: Socket, take: (bytes: Buffer) => number): void {
  let bytes = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    bytes = Buffer.concat([bytes, Buffer.from(chunk)]);
    for (let used = -1; used !== 0 && bytes.length > 0; bytes = bytes.subarray(used)) {
      used = take(bytes);
    }
  });
}
