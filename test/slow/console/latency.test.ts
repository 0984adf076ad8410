import { beforeAll, expect, test } from "bun:test";

import { firstPositionAt } from "../../../src/base/ids.ts";
import type { Destination } from "../../../src/outbound/model/destination.ts";
import { json } from "../../support/app.ts";
import { consoleForTests, inBrowser } from "../../support/console.ts";
import { post } from "../../support/flights.ts";
import { type AttemptRow, attemptWrite, destinationNumber } from "../../support/rows.ts";

const minuteMs = 60_000;
const chart = ".chart[role=img]";

inBrowser("the chart of delivery times", () => {
  const { server, browser } = consoleForTests({
    env: { DESTINATIONS_ALLOW_PRIVATE: "true" },
    size: [1_440, 900],
  });
  let slow: Destination["id"];
  const says = (label: string) =>
    browser.until(
      `document.querySelector(${JSON.stringify(chart)})?.ariaLabel.includes(${JSON.stringify(label)})`,
    );

  async function destination(name: string): Promise<Destination["id"]> {
    const body = { name, format: "json", url: "http://127.0.0.1:1024/hook" };
    const made = await server.app.as("admin", "/v1/destinations", post(body));
    // Guarantee: the schema of the response requires an id with this prefix.
    return String((await json(made))["id"]) as Destination["id"];
  }
  /** Stores attempts made half an hour ago, of a notification made a minute before. */
  async function store(id: Destination["id"], all: readonly Partial<AttemptRow>[]) {
    const destination = await destinationNumber(server.app.services.storage, id);
    const startedMs = server.app.clock.now() - 30 * minuteMs;
    const writes = all.map((fields, index) =>
      attemptWrite({
        notification: firstPositionAt(startedMs - minuteMs) + index,
        destination,
        startedAt: new Date(startedMs),
        durationMs: 20,
        delivered: true,
        responseStatus: 200,
        error: null,
        ...fields,
      }),
    );
    await server.app.services.storage.atomically(...writes);
  }

  beforeAll(() => browser.signIn("admin", "h1", "Events"), 60_000);

  test("without destinations, says what makes them appear", async () => {
    await browser.go("#/health", ".panel .empty", "No destinations yet");
    expect(await browser.read("document.querySelector('.panel .empty a').hash")).toBe(
      "#/destinations",
    );
  });

  test("Health shows the slowest destination, or the chosen one", async () => {
    slow = await destination("slow");
    const fast = await destination("fast");
    await destination("unused");
    await store(slow, [
      { durationMs: 4_000 },
      { durationMs: 9_000, delivered: false, error: "timed out" },
    ]);
    await store(fast, [{ durationMs: 12 }]);
    await browser.go("#/issues", "h1", "Issues");
    await browser.go("#/health");
    await says("How long one attempt took. Highest p95: 9,000\u00a0ms. 2 attempts, 1 failed.");
    await browser.shows("#latency", "Delivery time, last hour");
    await browser.has(".chart canvas");
    await browser.set("Destination", fast);
    await says("Highest p95: 12\u00a0ms. 1 attempt, 0 failed.");
    expect(await browser.read("location.hash")).toBe(`#/health?destination=${fast}`);
    await browser.isAccessible();
  });

  test("measures from the receipt on request, and keeps the choice in the address", async () => {
    await browser.set("Measure", "receipt");
    await says("From the receipt of an event to its delivery, retries included. Highest p95: 60.0");
    expect(await browser.read("location.hash")).toEndWith("&measure=receipt");
    await browser.set("Measure", "failures");
    await browser.until("location.hash.endsWith('&measure=failures')");
    await browser.shows("figcaption", "failed. One bar per");
    await browser.set("Measure", "receipt");
  });

  test("median and 95th percentile differ without colour, and the legend shows their values", async () => {
    const marks = `[...document.querySelectorAll(".u-series:not(:first-child) .u-marker")]
      .map((mark) => mark.style.borderStyle).join()`;
    await browser.until(`${marks} === "dashed,solid"`);
    expect(await browser.texts(".u-series .u-label")).toEqual(["At", "p95", "Median"]);
  });

  test("a destination's pane has the same, with a period of its own", async () => {
    await browser.go(`#/destinations/${slow}`, ".detail h3", "Attempts");
    await says("How attempts ended. 2 attempts, 1 failed.");
    await browser.set("Measure", "attempt");
    await says("Highest p95: 9,000\u00a0ms");
    await browser.set("Measure", "receipt");
    await says("From the receipt");
    await browser.set("Period", "1h");
    await browser.shows(".detail figcaption", "One point per minute");
    await browser.isAccessible();
    await browser.size(390, 844);
    // The chart follows the new width a moment later.
    await browser.until(
      "(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.querySelector('.detail'))",
    );
    await browser.size(1_440, 900);
  });

  test("says that a destination had no attempts in the period", async () => {
    await browser.go("#/destinations", "[data-row].destination", "unused");
    await browser.click("[data-row].destination", ".detail h2", "unused");
    await browser.shows(".detail .empty", "No attempts in the last 24 hours");
  });
});
