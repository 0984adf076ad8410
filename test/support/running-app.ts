import { afterAll, afterEach, beforeAll, beforeEach } from "bun:test";

import { startApp, type TestApp } from "./app.ts";

type Start = Parameters<typeof startApp>;

interface RunningApp extends TestApp {
  /** Stops the app, and starts a new one in its place. */
  restart(...start: Start): Promise<void>;
}

/** A new app for each test of a file or `describe`. */
export const appPerTest = (...start: Start) => running(beforeEach, afterEach, start);

/** One app for all tests of a file or `describe`. */
export const appForAll = (...start: Start) => running(beforeAll, afterAll, start);

/** One app for all tests of a file, which listens on a port as `skyhook serve` does. */
export function listeningForAll(...start: Start) {
  // Before the app stops, whose hook is the next.
  afterAll(() => app.app.server?.stop(true));
  const app = appForAll(...start);
  beforeAll(() => void app.app.listen({ port: 0, hostname: "127.0.0.1", reusePort: false }));
  return {
    app,
    get url() {
      return `http://127.0.0.1:${app.app.server?.port}`;
    },
  };
}

/** Starts and stops apps by hooks, and passes each call to the running one. */
function running(before: typeof beforeAll, after: typeof afterAll, start: Start): RunningApp {
  let app: TestApp;
  before(async () => {
    app = await startApp(...start);
  });
  after(() => app.stop());
  return {
    get app() {
      return app.app;
    },
    get services() {
      return app.services;
    },
    get clock() {
      return app.clock;
    },
    fetch: (...request) => app.fetch(...request),
    as: (...request) => app.as(...request),
    deliver: (...delivery) => app.deliver(...delivery),
    deliverSample: (...delivery) => app.deliverSample(...delivery),
    async restart(...restarted) {
      await app.stop();
      app = await startApp(...restarted);
    },
    stop: () => app.stop(),
    [Symbol.asyncDispose]: () => app.stop(),
  };
}
