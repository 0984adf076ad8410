import { beforeAll, expect, test } from "bun:test";

import { consoleForTests, inBrowser } from "../../support/console.ts";

/** 400 kbit/s. */
const bytesPerSecond = 50_000;
const latency = 400;
/** Of all responses until the first rows are there. */
const maxBytes = 120_000;

inBrowser("the console on a slow network", () => {
  const { server, browser } = consoleForTests();
  const throttle = (throughput: number, delay: number) =>
    browser.cdp("Network.emulateNetworkConditions", {
      offline: false,
      latency: delay,
      downloadThroughput: throughput,
      uploadThroughput: throughput,
    });

  beforeAll(async () => {
    for (let sent = 0; sent < 55; sent += 1) {
      await server.app.deliverSample("code_host", "package.published");
    }
    await browser.signIn("admin");
    await browser.has("[data-row]");
    await browser.cdp("Page.enable");
    await browser.cdp("Network.setCacheDisabled", { cacheDisabled: true });
    // What was seen, in this order.
    const source = `window.seen = [];
      const see = (name, selector) => { if (!seen.includes(name) && document.querySelector(selector)) seen.push(name); };
      new MutationObserver(() => {
        see("outline", "#opening .bones");
        see("frame", "#console .side a[aria-current]");
        see("loading", ".list > .loading[role=status]");
        see("rows", "[data-row]");
      }).observe(document, { childList: true, subtree: true });`;
    await browser.cdp("Page.addScriptToEvaluateOnNewDocument", { source });
  }, 120_000);

  test("shows the outline first, then the frame with grey rows, then the rows", async () => {
    await browser.open("about:blank");
    await throttle(bytesPerSecond, latency);
    await browser.open(`${server.url}/console#/rejections`);
    await browser.until("seen.includes('frame') && document.querySelector('#opening') === null");
    await browser.shows(".list > .loading", "Loading rejected deliveries…");
    await browser.go("#/events");
    await browser.has("[data-row]");
    expect(await browser.read("seen.join()")).toBe("outline,frame,loading,rows");
    await browser.isAccessible();
  }, 60_000);

  test("loads little, and requests the first rows before its script has arrived", async () => {
    await browser.open("about:blank");
    await throttle(bytesPerSecond, latency);
    await browser.open(`${server.url}/console#/events`);
    await browser.has("[data-row]", 50);
    await throttle(-1, 0);
    const loads = await browser.read(`JSON.stringify([
      ...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")
    ].map(({ name, startTime, responseEnd, transferSize }) => [new URL(name).pathname, startTime, responseEnd, transferSize]))`);
    const all: readonly (readonly [string, number, number, number])[] = JSON.parse(String(loads));
    const bytes = all.reduce((sum, [, , , size]) => sum + size, 0);
    console.log(`the first page is ${Math.round(bytes / 1_000)} kB on the wire`);
    expect(bytes).toBeLessThan(maxBytes);
    const of = (path: string) => all.filter(([name]) => name === path);
    const scriptEnd = of("/console/page.js")[0]?.[2] ?? 0;
    for (const path of ["/v1/auth/session", "/v1/providers", "/v1/issues", "/v1/events"]) {
      expect([path, (of(path)[0]?.[1] ?? Infinity) < scriptEnd]).toEqual([path, true]);
    }
    expect(of("/v1/auth/session")).toHaveLength(1);
    expect(of("/v1/providers")).toHaveLength(1);
  }, 60_000);
});
