/** A server of this process, which ends with its scope. */
export function serving(fetch: (request: Request) => Response | Promise<Response>) {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch });
  return { url: server.url, port: server.port, [Symbol.asyncDispose]: () => server.stop(true) };
}
