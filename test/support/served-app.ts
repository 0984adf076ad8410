import { startApp, type TestApp } from "./app.ts";

/** The whole service in this process, on a free port. */
export interface ServedApp {
  readonly app: TestApp;
  /** Without a trailing slash. */
  readonly url: string;
  /** Of an admin. */
  readonly token: string;
  stop(): Promise<void>;
}

/** Serves an app, for commands and clients that need an address. Takes the arguments of `startApp`. */
export async function serveApp(...args: Parameters<typeof startApp>): Promise<ServedApp> {
  const app = await startApp(...args);
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => app.app.handle(request),
  });
  return {
    app,
    url: server.url.origin,
    token: await app.services.tokens.mint({ id: "admin", roles: ["admin"] }, 3_600),
    async stop() {
      await server.stop(true);
      await app.stop();
    },
  };
}
