import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** An address that can be moved to another database server, like a DNS name or a virtual IP address. */
export async function movableAddress(url: string) {
  let target = new URL(url);
  const open = new Set<readonly [Socket, Socket]>();
  const proxy = createServer((client) => {
    const server = connect(Number(target.port), target.hostname);
    const sides = [client, server] as const;
    open.add(sides);
    const end = () => {
      open.delete(sides);
      client.destroy();
      server.destroy();
    };
    for (const side of sides) side.on("error", end).on("close", end);
    client.pipe(server).pipe(client);
  });
  const { port } = await new Promise<AddressInfo>((resolve) => {
    // Guarantee: a server that listens on a port has an address of this type.
    proxy.listen(0, "127.0.0.1", () => resolve(proxy.address() as AddressInfo));
  });
  const through = new URL(url);
  through.port = String(port);
  return {
    url: through.href,
    /** Directs new connections to the server of that URL; open ones stay. */
    moveTo(other: string) {
      target = new URL(other);
    },
    /** Carries nothing more on open connections, which stay open, as after a cable is pulled. New ones work. */
    goSilent() {
      for (const [client, server] of open) {
        client.unpipe(server).pause();
        server.unpipe(client).pause();
      }
    },
    stop() {
      proxy.close();
      for (const side of [...open].flat()) side.destroy();
    },
  };
}

export type MovableAddress = Awaited<ReturnType<typeof movableAddress>>;
