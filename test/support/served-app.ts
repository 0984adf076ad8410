import { startApp } from "./app.ts";

/** Serves an app, for commands and clients that need an address. Takes the arguments of `startApp`. */
export async function serveApp(...args: Parameters<typeof startApp>) {
  const app = await startApp(...args);
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => app.app.handle(request),
  });
  return {
    app,
    /** Without a trailing slash. */
    url: server.url.origin,
    /** Of an admin. */
    token: await app.services.tokens.mint({ id: "admin", roles: ["admin"] }, 3_600),
    async stop() {
      await server.stop(true);
      await app.stop();
    },
  };
}

export type ServedApp = Awaited<ReturnType<typeof serveApp>>;
