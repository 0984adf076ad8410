import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { until } from "./app.ts";

/** The path of the installed Chromium; null if there is none. */
const chromium =
  ["chromium", "chromium-browser", "google-chrome"]
    .map((name) => Bun.which(name))
    .find((path) => path !== null) ?? null;

/** Why tests in a browser are skipped; null if they run. */
export const noChromium = chromium === null ? "Chromium is not installed" : null;

/** Much longer than a page needs, for busy machines. */
const waitTimeoutMs = 20_000;

/** What to wait for after an action; by default nothing. */
type Shown = readonly [] | readonly [selector: string, ...texts: readonly string[]];

/** A tab of a real browser that can reach only this machine. */
export interface Browser {
  open(url: string): Promise<void>;
  /** Evaluates an expression in the page. */
  read(expression: string): Promise<unknown>;
  /** Changes the address within the page, and waits for what it then `shows`. */
  go(hash: string, ...shown: Shown): Promise<void>;
  /** The text of the first such element. */
  text(selector: string): Promise<unknown>;
  /** The number of such elements. */
  count(selector: string): Promise<number>;
  /** Waits until an expression is true in the page. */
  until(expression: string): Promise<void>;
  /** Waits until there are so many such elements; by default at least one. */
  has(selector: string, count?: number): Promise<void>;
  /** Waits until there is no such element. */
  lacks(selector: string): Promise<void>;
  /** Waits for an element whose text contains the first text, then for one with the next. */
  shows(selector: string, ...texts: readonly string[]): Promise<void>;
  /** Clicks an element, and waits for what the page then `shows`. */
  click(selector: string, ...shown: Shown): Promise<void>;
  /** Clicks a button of the open item by its label, once it is there. */
  push(label: string, ...shown: Shown): Promise<void>;
  /** Sets the field of a filter or chart by the beginning of its label, as choosing and typing do. */
  set(label: string, value: string): Promise<unknown>;
  press(key: string): Promise<void>;
  type(text: string): Promise<void>;
  size(width: number, height: number): Promise<void>;
  scheme(name: "light" | "dark"): Promise<void>;
  /** Runs axe: violations of WCAG 2.2 (A, AA) and of axe's best practices, or of a single rule. */
  accessibilityViolations(rule?: string): Promise<string[]>;
  screenshot(format: "png" | "webp"): Promise<Buffer>;
  cdp(method: string, params?: Record<string, unknown>): Promise<unknown>;
  /** The messages that the page logged to its console. */
  readonly consoleMessages: readonly string[];
  /** All requested URLs, including failed requests. */
  readonly requestedUrls: readonly string[];
  close(): Promise<void>;
}

/** The button of the open item with this label, as an expression. */
export const buttonOf = (label: string): string =>
  `[...document.querySelectorAll(".detail button")].find((it) => it.checkVisibility() && it.textContent === ${JSON.stringify(label)})`;
const all = (selector: string) => `document.querySelectorAll(${JSON.stringify(selector)})`;

/** A tab that opens when it is first used. */
export function openBrowser(width = 1_280, height = 800): Browser {
  const consoleMessages: string[] = [];
  const requestedUrls: string[] = [];

  async function launch(): Promise<{ view: Bun.WebView; profile: string }> {
    const profile = mkdtempSync(join(tmpdir(), "skyhook-chromium-"));
    const view = new Bun.WebView({
      width,
      height,
      backend: {
        type: "chrome",
        path: chromium ?? "",
        argv: [
          "--no-sandbox",
          "--disable-gpu",
          "--no-first-run",
          "--disable-background-networking",
          `--user-data-dir=${profile}`,
          "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
        ],
      },
      console: (type, ...words) =>
        void consoleMessages.push(`${type}: ${words.map(String).join(" ")}`),
    });
    await view.navigate("about:blank");
    view.addEventListener("Network.requestWillBeSent", ({ data }) => {
      requestedUrls.push(String(Object(Object(data).request).url));
    });
    await view.cdp("Network.enable");
    return { view, profile };
  }

  let launched: ReturnType<typeof launch> | null = null;
  const tab = async () => (await (launched ??= launch())).view;
  const read = async (expression: string) => (await tab()).evaluate(expression);
  const wait = async (expression: string) => {
    try {
      await until(async () => (await read(`Boolean(${expression})`)) === true, waitTimeoutMs);
    } catch (cause) {
      const shown = String(await read("location.href + ' ' + document.body.innerText"));
      throw new Error(`Not true in time: ${expression}. Shown: ${shown.slice(0, 600)}`, { cause });
    }
  };
  const shows = async (selector = "", ...texts: readonly string[]) => {
    for (const text of texts) {
      await wait(
        `[...${all(selector)}].some((it) => it.textContent.includes(${JSON.stringify(text)}))`,
      );
    }
  };
  return {
    consoleMessages,
    requestedUrls,
    open: async (url) => (await tab()).navigate(url),
    read,
    async go(hash, ...shown) {
      await read(`void (location.hash = ${JSON.stringify(hash)})`);
      await shows(...shown);
    },
    text: (selector) => read(`${all(selector)}[0].textContent`),
    count: async (selector) => Number(await read(`${all(selector)}.length`)),
    until: wait,
    has: (selector, count) =>
      wait(`${all(selector)}.length ${count === undefined ? "> 0" : `=== ${count}`}`),
    lacks: (selector) => wait(`${all(selector)}.length === 0`),
    shows,
    async click(selector, ...shown) {
      await (await tab()).click(selector);
      await shows(...shown);
    },
    async push(label, ...shown) {
      await wait(buttonOf(label));
      await read(`void ${buttonOf(label)}.click()`);
      await shows(...shown);
    },
    set: (label, value) =>
      read(`(() => {
        const named = [...document.querySelectorAll("label, select[aria-label]")].find((it) =>
          (it.ariaLabel ?? it.textContent).startsWith(${JSON.stringify(label)}));
        const field = named.control ?? named;
        field.value = ${JSON.stringify(value)};
        field.dispatchEvent(new Event("change", { bubbles: true }));
      })()`),
    press: async (key) => (await tab()).press(key),
    type: async (text) => (await tab()).type(text),
    size: async (newWidth, newHeight) => (await tab()).resize(newWidth, newHeight),
    async scheme(value) {
      const features = [{ name: "prefers-color-scheme", value }];
      await (await tab()).cdp("Emulation.setEmulatedMedia", { features });
    },
    async accessibilityViolations(rule) {
      if ((await read("typeof axe")) === "undefined") await read(`(() => { ${axeSource()} })()`);
      const violations =
        await read(`axe.run(document, ${JSON.stringify({ resultTypes: ["violations"], ...(rule !== undefined && { runOnly: [rule] }) })}).then(
        ({ violations }) => violations.flatMap(({ id, help, nodes }) =>
          nodes.map((node) => id + ": " + help + " at " + node.target.join(" ") + " " + node.html.slice(0, 120))))`);
      return Array.isArray(violations) ? violations.map(String) : ["axe returned no result"];
    },
    screenshot: async (format) =>
      (await tab()).screenshot({ encoding: "buffer", format, quality: 75 }),
    cdp: async (method, params) => (await tab()).cdp(method, params),
    async close() {
      if (launched === null) return;
      const { view, profile } = await launched;
      view.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

function axeSource(): string {
  return readFileSync(Bun.resolveSync("axe-core/axe.min.js", import.meta.dir), "utf8");
}
