import { beforeAll, describe, expect, test } from "bun:test";

import { createApp } from "../../../../src/app.ts";
import { until } from "../../../support/app.ts";
import { noChromium, openBrowser } from "../../../support/browser.ts";
import { addFlight } from "../../../support/flights.ts";
import { appForAll } from "../../../support/running-app.ts";
import { skips } from "../../../support/skips.ts";

const app = appForAll();
beforeAll(async () => {
  for (const flightNumber of ["SK1", "SK2", "SK3"]) await addFlight(app, { flightNumber });
});

describe.skipIf(skips(noChromium))("the playground in a browser", () => {
  test("opens in a browser without a network, runs the query and shows the result", async () => {
    const server = createApp(app.services).listen({ port: 0, hostname: "127.0.0.1" });
    const browser = openBrowser(1_200);
    try {
      await browser.open(new URL("/graphql", server.server?.url).href);
      const button = "button.graphiql-execute-button";
      await browser.until(`document.querySelector("${button}") !== null`);
      // The editor is ready when it shows the query.
      await browser.shows(".graphiql-query-editor .view-lines", "totalCount");
      // It runs nothing until the schema has arrived.
      await until(async () => {
        await browser.click(button);
        await Bun.sleep(500);
        const shown = await browser.read("document.querySelector('.result-window')?.textContent");
        return String(shown).includes("totalCount");
      }, 15_000);
      await browser.shows(".result-window", "SK3");
      const loaded = await browser.read(
        `performance.getEntriesByType("resource").map(({ name }) => new URL(name, location.href))
          .filter(({ protocol, origin }) => protocol !== "data:" && origin !== location.origin).length`,
      );
      expect(loaded).toBe(0);
      await browser.shows("body", "Headers");
      expect(await browser.accessibilityViolations("landmark-one-main")).toEqual([]);
    } finally {
      await browser.close();
      await server.stop(true);
    }
  }, 60_000);

  const stored = "localStorage.getItem('graphiql:tabState')";
  const exampleFlights = `JSON.parse(${stored}).tabs.flatMap(({ variables }) => /"flightId": (\\d+)/.exec(variables ?? "")?.[1] ?? []).join()`;

  test("gives the examples the newest flight with free seats while signed in, too", async () => {
    const server = createApp(app.services).listen({ port: 0, hostname: "127.0.0.1" });
    const browser = openBrowser(1_200);
    const url = new URL("/graphql", server.server?.url).href;
    const token = await app.services.tokens.mint({ id: "test", roles: ["operator"] }, 3_600);
    try {
      await browser.open(new URL("/console", url).href);
      const headers = { authorization: `Bearer ${token}`, "x-skyhook-console": "1" };
      const signingIn = `fetch("/v1/auth/session", { method: "POST", headers: ${JSON.stringify(headers)} })`;
      expect(await browser.read(`${signingIn}.then(({ status }) => status)`)).toBe(200);
      await browser.open(url);
      await browser.until(`${stored}?.includes("flightId")`);
      expect(await browser.read(exampleFlights)).toBe("3,3");
      await browser.shows(".graphiql-query-editor .view-lines", "totalCount");
      const statuses = `performance.getEntriesByType("resource").filter(({ name }) => name.endsWith("/graphql")).map(({ responseStatus }) => responseStatus)`;
      // The flight and the schema.
      await browser.until(`${statuses}.length >= 2`);
      expect(await browser.read(`${statuses}.every((status) => status === 200)`)).toBe(true);
    } finally {
      await browser.close();
      await server.stop(true);
    }
  }, 60_000);

  test("shows all tabs on a phone", async () => {
    const server = createApp(app.services).listen({ port: 0, hostname: "127.0.0.1" });
    const browser = openBrowser(390);
    try {
      await browser.open(new URL("/graphql", server.server?.url).href);
      await browser.has(".graphiql-tab", 5);
      const cutOff = `[...document.querySelectorAll(".graphiql-tab")].filter((tab) => {
        const { left, right, top, bottom } = tab.getBoundingClientRect();
        return !tab.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2)) || right > innerWidth;
      }).length`;
      expect(await browser.read(cutOff)).toBe(0);
    } finally {
      await browser.close();
      await server.stop(true);
    }
  }, 60_000);

  const examples = "Search,Book,Cancel,Page through,Subscribe";

  test("shows on later visits what was there before, and adds no empty tab", async () => {
    const server = createApp(app.services).listen({ port: 0, hostname: "127.0.0.1" });
    const browser = openBrowser(1_200);
    const url = new URL("/graphql", server.server?.url).href;
    const tabs =
      "[...document.querySelectorAll('.graphiql-tab-button')].map((tab) => tab.textContent)";
    const visit = async (address: string, text: string) => {
      await browser.open("about:blank");
      await browser.open(address);
      await browser.shows(".graphiql-query-editor .view-lines", text);
      return browser.read(`${tabs}.join()`);
    };
    try {
      expect(await visit(url, "Flights")).toBe(examples);
      // The newest flight with free seats.
      expect(await browser.read(exampleFlights)).toBe("3,3");
      expect(await visit(url, "Flights")).toBe(examples);
      // The editor stores its content after a pause.
      await browser.until(`${stored}?.includes("Flights")`);
      // An earlier version stored an empty tab and activated it.
      await browser.read(`void (() => {
          const state = JSON.parse(${stored});
          state.tabs.push({ ...state.tabs[0], id: "empty", title: "<untitled>", query: null, headers: null });
          localStorage.setItem("graphiql:tabState", JSON.stringify({ ...state, activeTabIndex: state.tabs.length - 1 }));
        })()`);
      expect(await visit(url, "Flights")).toBe(examples);
      await browser.click(".graphiql-query-editor .view-lines");
      await browser.type("#mine ");
      await browser.until(`${stored}?.includes("#mine")`);
      expect(await visit(url, "#mine")).toBe(examples);
      const other = `${url}?query=${encodeURIComponent("query Other { node(id: 1) { id } }")}`;
      expect(await visit(other, "Other")).toMatch(/^Search.*,Other/);
      expect(await visit(other, "Other")).toMatch(/^Search[^,]*,.*,Other[^,]*$/);
      // Invalid stored tabs must not prevent the editor from starting.
      await browser.read("void localStorage.setItem('graphiql:tabState', '{')");
      await browser.open("about:blank");
      await browser.open(url);
      await browser.until(
        "document.querySelector('.graphiql-query-editor .view-lines')?.textContent.trim() > ''",
      );
    } finally {
      await browser.close();
      await server.stop(true);
    }
  }, 60_000);
});
