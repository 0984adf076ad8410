import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { until } from "./app.ts";

/** The Chromium installed here; null when there is none. */
export const chromium =
  ["chromium", "chromium-browser", "google-chrome"]
    .map((name) => Bun.which(name))
    .find((path) => path !== null) ?? null;

if (chromium === null) {
  console.warn("skipped: there is no Chromium here (apt-get install chromium)");
}

/** Far beyond what a page needs, for machines that are busy with other things. */
const patienceMs = 20_000;

/** A tab of a real browser that reaches nothing but this machine. */
export interface Browser {
  open(url: string): Promise<void>;
  /** The value of an expression in the page. */
  read(expression: string): Promise<unknown>;
  /** Waits until an expression is true in the page. */
  until(expression: string): Promise<void>;
  /** Waits for an element whose text holds `text`. */
  shows(selector: string, text: string): Promise<void>;
  click(selector: string): Promise<void>;
  press(key: string): Promise<void>;
  type(text: string): Promise<void>;
  size(width: number, height: number): Promise<void>;
  scheme(name: "light" | "dark"): Promise<void>;
  /** Rules of WCAG 2.2 (A, AA) and best practice that the page breaks, by axe's word; or one of them. */
  accessibilityFaults(rule?: string): Promise<string[]>;
  screenshot(format: "png" | "webp"): Promise<Buffer>;
  cdp(method: string, params?: Record<string, unknown>): Promise<unknown>;
  /** What the page said on its console. */
  readonly said: readonly string[];
  /** Every address that was requested, reached or not. */
  readonly requested: readonly string[];
  close(): void;
}

export async function openBrowser(width = 1_280, height = 800): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), "skyhook-chromium-"));
  const said: string[] = [];
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
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
      ],
    },
    console: (type, ...words) => void said.push(`${type}: ${words.map(String).join(" ")}`),
  });
  await view.navigate("about:blank");
  const requested: string[] = [];
  view.addEventListener("Network.requestWillBeSent", ({ data }) => {
    requested.push(String(Object(Object(data).request).url));
  });
  await view.cdp("Network.enable");
  const wait = (expression: string) =>
    until(async () => (await view.evaluate(`Boolean(${expression})`)) === true, patienceMs);
  return {
    said,
    requested,
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
    size: (to, high) => view.resize(to, high),
    async scheme(value) {
      const features = [{ name: "prefers-color-scheme", value }];
      await view.cdp("Emulation.setEmulatedMedia", { features });
    },
    async accessibilityFaults(rule) {
      if ((await view.evaluate("typeof axe")) === "undefined") {
        await view.evaluate(`(() => { ${axeSource()} })()`);
      }
      const faults =
        await view.evaluate(`axe.run(document, ${JSON.stringify({ resultTypes: ["violations"], ...(rule !== undefined && { runOnly: [rule] }) })}).then(
        ({ violations }) => violations.flatMap(({ id, help, nodes }) =>
          nodes.map((node) => id + ": " + help + " at " + node.target.join(" ") + " " + node.html.slice(0, 120))))`);
      return Array.isArray(faults) ? faults.map(String) : ["axe did not answer"];
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
