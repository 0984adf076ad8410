import { type AddressInfo, connect, createServer } from "node:net";

export interface MovableAddress {
  readonly url: string;
  /** From now on connections lead to the server of that URL; those that are open stay. */
  moveTo(other: string): void;
  stop(): void;
}

/** The address of a database server, as a name or a virtual address is one: it can lead elsewhere. */
export async function movableAddress(url: string): Promise<MovableAddress> {
  let target = new URL(url);
  const proxy = createServer((client) => {
    const server = connect(Number(target.port), target.hostname);
    const end = () => {
      client.destroy();
      server.destroy();
    };
    for (const side of [client, server]) side.on("error", end).on("close", end);
    client.pipe(server).pipe(client);
  });
  const { port } = await new Promise<AddressInfo>((resolve) => {
    // Guarantee: one that listens on a port has such an address.
    proxy.listen(0, "127.0.0.1", () => resolve(proxy.address() as AddressInfo));
  });
  const through = new URL(url);
  through.port = String(port);
  return {
    url: through.href,
    moveTo(other) {
      target = new URL(other);
    },
    stop: () => void proxy.close(),
  };
}
