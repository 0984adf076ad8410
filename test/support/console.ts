import { afterAll, beforeAll, describe, expect } from "bun:test";

import { createApp } from "../../src/app.ts";
import { systemClock } from "../../src/base/clock.ts";

import { startApp, type TestApp } from "./app.ts";
import { type Browser, noChromium, openBrowser } from "./browser.ts";
import type { ManualClock } from "./clock.ts";
import { skips } from "./skips.ts";

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

/** What a view shows first; by default nothing is awaited. */
type Shown = readonly [] | readonly [selector: string, ...texts: readonly string[]];
type SignInRole = "operator" | "user" | "admin";

/** The console in a browser, as its users see it. */
export interface ConsolePage extends Browser {
  /** Opens the console, signs in by pasting a token, and waits for what it then `shows`. */
  signIn(role: SignInRole, ...shown: Shown): Promise<void>;
  /** Signs out, and in again with another role. */
  signInAgain(role: SignInRole, ...shown: Shown): Promise<void>;
  /** Expects no violation of the rules of axe. */
  isAccessible(): Promise<void>;
  /** Expects that the page logged no error. */
  loggedNoError(): void;
  /** The texts of all such elements. */
  texts(selector: string): Promise<readonly string[]>;
  /** Replaces the text of a field, as typing does. */
  fill(selector: string, text: string): Promise<void>;
  /** Waits until such an element has the focus. */
  focuses(selector: string): Promise<void>;
  /** Waits until the address has exactly this fragment. */
  isAt(hash: string): Promise<void>;
  /** Answers the open dialog, and waits for what the page then `shows`. */
  confirm(...shown: Shown): Promise<void>;
}

/** The number of rows of a list, as an expression. */
export const rows = "document.querySelectorAll('[data-row]').length";
/** Whether such an element has the focus, as an expression. */
export const isFocused = (selector: string): string =>
  `document.activeElement.matches(${JSON.stringify(selector)})`;

/** Tests in a browser, which are skipped if there is none. */
export const inBrowser = (title: string, tests: () => void): void =>
  describe.skipIf(skips(noChromium))(title, tests);

/** A console and a browser for the tests of a group, from its `beforeAll` to its end. */
export function consoleForTests({
  env,
  clock,
  options,
  size = [1_280, 800],
}: ConsoleOptions = {}): {
  readonly server: ConsoleServer;
  readonly browser: ConsolePage;
} {
  let started: ConsoleServer;
  const tab = openBrowser(...size);
  beforeAll(async () => {
    started = await startConsole(env, clock, options);
  }, 60_000);
  afterAll(async () => {
    await tab.close();
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
  return { server, browser: consolePage(tab, server) };
}

/** `browser` with what users do in a console. */
export function consolePage(
  browser: Browser,
  server: Pick<ConsoleServer, "app" | "url">,
): ConsolePage {
  const selected = (selector: string) => `document.querySelector(${JSON.stringify(selector)})`;
  const signOut = ".tools > button:last-child";

  async function signIn(role: SignInRole, ...shown: Shown): Promise<void> {
    const token = await server.app.services.tokens.mint({ id: "test", roles: [role] }, 3_600);
    // A navigation within the page would not load it again.
    await browser.open("about:blank");
    await browser.open(`${server.url}/console#/events`);
    await browser.has(".sign-in summary");
    await browser.click(".sign-in summary");
    await browser.click("input[name=token]");
    await browser.type(token);
    await browser.click("button[type=submit]", ...shown);
  }

  return {
    ...browser,
    signIn,
    async signInAgain(role, ...shown) {
      await browser.click(signOut);
      await browser.has("input[name=token]");
      await signIn(role, ...shown);
    },
    async isAccessible() {
      expect(await browser.accessibilityViolations()).toEqual([]);
    },
    loggedNoError() {
      expect(browser.consoleMessages.filter((line) => line.startsWith("error"))).toEqual([]);
    },
    async texts(selector) {
      const all = `[...document.querySelectorAll(${JSON.stringify(selector)})]`;
      const texts: unknown = await browser.read(`${all}.map((it) => it.textContent)`);
      return Array.isArray(texts) ? texts.map(String) : [];
    },
    async fill(selector, text) {
      await browser.has(selector);
      await browser.read(`((field) => (field.focus(), field.select()))(${selected(selector)})`);
      await browser.press("Backspace");
      await browser.type(text);
    },
    focuses: (selector) => browser.until(isFocused(selector)),
    isAt: (hash) => browser.until(`location.hash === ${JSON.stringify(hash)}`),
    confirm: (...shown) => browser.click("dialog[open] .primary", ...shown),
  };
}
