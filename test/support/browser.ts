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
export const noChromium =
  chromium === null ? "Chromium is not installed (apt-get install chromium)" : null;

/** Much longer than a page needs, for busy machines. */
const waitTimeoutMs = 20_000;

/** A tab of a real browser that can reach only this machine. */
export interface Browser {
  open(url: string): Promise<void>;
  /** Evaluates an expression in the page. */
  read(expression: string): Promise<unknown>;
  /** Waits until an expression is true in the page. */
  until(expression: string): Promise<void>;
  /** Waits for an element whose text contains `text`. */
  shows(selector: string, text: string): Promise<void>;
  click(selector: string): Promise<void>;
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
  close(): void;
}

export async function openBrowser(width = 1_280, height = 800): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), "skyhook-chromium-"));
  const consoleMessages: string[] = [];
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
  const requestedUrls: string[] = [];
  view.addEventListener("Network.requestWillBeSent", ({ data }) => {
    requestedUrls.push(String(Object(Object(data).request).url));
  });
  await view.cdp("Network.enable");
  const wait = (expression: string) =>
    until(async () => (await view.evaluate(`Boolean(${expression})`)) === true, waitTimeoutMs);
  return {
    consoleMessages,
    requestedUrls,
    open: (url) => view.navigate(url),
    read: (expression) => view.evaluate(expression),
    until: wait,
    shows: (selector, text) =>
      wait(
        `[...document.querySelectorAll(${JSON.stringify(selector)})].some((it) => it.textContent.includes(${JSON.stringify(text)}))`,
      ),
    click: (selector) => view.click(selector),
    press: (key) => view.press(key),
    type: (text) => view.type(text),
    size: (newWidth, newHeight) => view.resize(newWidth, newHeight),
    async scheme(value) {
      const features = [{ name: "prefers-color-scheme", value }];
      await view.cdp("Emulation.setEmulatedMedia", { features });
    },
    async accessibilityViolations(rule) {
      if ((await view.evaluate("typeof axe")) === "undefined") {
        await view.evaluate(`(() => { ${axeSource()} })()`);
      }
      const violations =
        await view.evaluate(`axe.run(document, ${JSON.stringify({ resultTypes: ["violations"], ...(rule !== undefined && { runOnly: [rule] }) })}).then(
        ({ violations }) => violations.flatMap(({ id, help, nodes }) =>
          nodes.map((node) => id + ": " + help + " at " + node.target.join(" ") + " " + node.html.slice(0, 120))))`);
      return Array.isArray(violations) ? violations.map(String) : ["axe returned no result"];
    },
    screenshot: (format) => view.screenshot({ encoding: "buffer", format, quality: 75 }),
    cdp: (method, params) => view.cdp(method, params),
    close() {
      view.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

function axeSource(): string {
  return readFileSync(Bun.resolveSync("axe-core/axe.min.js", import.meta.dir), "utf8");
}
