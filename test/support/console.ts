import { createApp } from "../../src/app.ts";
import { systemClock } from "../../src/base/clock.ts";

import { startApp, type TestApp } from "./app.ts";
import type { Browser } from "./browser.ts";
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
  env: Readonly<Record<string, string>> = {},
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
  await browser.until("document.querySelector('input[name=token]') !== null");
  await browser.click("input[name=token]");
  await browser.type(token);
  await browser.click("button[type=submit]");
}
