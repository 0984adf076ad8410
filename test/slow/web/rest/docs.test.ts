import { afterAll, describe, expect, test } from "bun:test";

import { noChromium, openBrowser } from "../../../support/browser.ts";
import { appForAll } from "../../../support/running-app.ts";
import { skips } from "../../../support/skips.ts";

const app = appForAll();

describe.skipIf(skips(noChromium))("the docs on a phone", () => {
  const browser = openBrowser(390, 844);
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: (request) => app.fetch(request.url.slice(new URL(request.url).origin.length), request),
  });
  afterAll(async () => {
    await browser.close();
    await server.stop(true);
  });

  test.each([
    "docs",
    "docs/find",
    "docs/operations",
    "docs/search?q=circuit",
    "problems/not-found",
  ])("%s fits, and passes the rules of axe in light and dark", async (path) => {
    for (const scheme of ["light", "dark"] as const) {
      await browser.scheme(scheme);
      await browser.open(server.url.href + path);
      await browser.until(`document.querySelector("h1")`);
      expect(await browser.accessibilityViolations()).toEqual([]);
      expect(await browser.read("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    }
  });

  test("/ leads to the search", async () => {
    await browser.open(`${server.url.href}docs/webhooks`);
    await browser.until(`document.readyState === "complete"`);
    await browser.press("/");
    await browser.type("circuit/");
    await browser.until(`document.activeElement.value === "circuit/"`);
  });

  test("a click copies a command, not its output", async () => {
    await browser.open(`${server.url.href}docs/webhooks`);
    await browser.has("pre button");
    await browser.read(
      "navigator.clipboard.writeText = async (text) => void (globalThis.copied = text)",
    );
    await browser.read("document.querySelector('pre button').scrollIntoView({ block: 'center' })");
    await browser.click("pre button", "pre button", "Copied");
    expect(await browser.read("copied")).toBe(
      await browser.text("pre:has(button) > code").then((text) => String(text).trimEnd()),
    );
    const others = "document.querySelectorAll('pre:has(> .language-text)').length";
    expect(await browser.read(others)).toBeGreaterThan(0);
    expect(await browser.count("pre:has(> .language-text) button")).toBe(0);
  });
});
