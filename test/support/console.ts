import { afterAll, beforeAll } from "bun:test";

import { createApp } from "../../src/app.ts";
import { systemClock } from "../../src/base/clock.ts";

import { startApp, type TestApp } from "./app.ts";
import { type Browser, openBrowser } from "./browser.ts";
import type { ManualClock } from "./clock.ts";

/** A running clock with an adjustable offset, to fill a database with a history. */
export interface PastClock extends ManualClock {
  /** Sets the clock to `ms` before the system's time. */
  goBack(ms: number): void;
}

export function pastClock(): PastClock {
  let behindMs = 0;
  return {
    now: () => systemClock.now() - behindMs,
    after: (delayMs, action) => systemClock.after(delayMs, action),
    advance() {},
    jump(ms) {
      behindMs -= ms;
    },
    goBack(ms) {
      behindMs = ms;
    },
  };
}

/** The whole service, in this process, on a free port. */
export interface ConsoleServer {
  readonly app: TestApp;
  /** Without a trailing slash. */
  readonly url: string;
  /** Stops listening; `restore` listens again, on the same port. */
  cut(): Promise<void>;
  restore(): void;
  stop(): Promise<void>;
}

export async function startConsole(
  env: NodeJS.ProcessEnv = {},
  clock: ManualClock = pastClock(),
  options: Parameters<typeof startApp>[2] = {},
  wantedPort = 0,
): Promise<ConsoleServer> {
  const app = await startApp(env, clock, options);
  const listen = (port: number) => createApp(app.services).listen({ port, hostname: "127.0.0.1" });
  let listening = listen(wantedPort);
  const port = listening.server?.port ?? 0;
  return {
    app,
    url: `http://127.0.0.1:${port}`,
    async cut() {
      await listening.server?.stop(true);
    },
    restore() {
      listening = listen(port);
    },
    async stop() {
      app.services.drain();
      await listening.server?.stop(true);
      await app.stop();
    },
  };
}

interface ConsoleOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: ManualClock;
  readonly options?: Parameters<typeof startApp>[2];
  readonly size?: readonly [width: number, height: number];
}

/** A console and a browser for the tests of a group, from its `beforeAll` to its end. */
export function consoleForTests({
  env,
  clock,
  options,
  size = [1_280, 800],
}: ConsoleOptions = {}): {
  readonly server: ConsoleServer;
  readonly browser: Browser;
} {
  let started: ConsoleServer;
  const browser = openBrowser(...size);
  beforeAll(async () => {
    started = await startConsole(env, clock, options);
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await started.stop();
  });
  const server: ConsoleServer = {
    get app() {
      return started.app;
    },
    get url() {
      return started.url;
    },
    cut: () => started.cut(),
    restore: () => started.restore(),
    stop: () => started.stop(),
  };
  return { server, browser };
}

/** Opens the console and signs in by pasting a token. */
export async function signIn(
  browser: Browser,
  { app, url }: ConsoleServer,
  role: "operator" | "user" | "admin" = "operator",
): Promise<void> {
  const token = await app.services.tokens.mint({ id: "test", roles: [role] }, 3_600);
  // A navigation within the page would not load it again.
  await browser.open("about:blank");
  await browser.open(`${url}/console#/events`);
  await browser.has(".sign-in summary");
  await browser.click(".sign-in summary");
  await browser.click("input[name=token]");
  await browser.type(token);
  await browser.click("button[type=submit]");
}
