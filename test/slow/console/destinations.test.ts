import { afterAll, beforeAll, expect, test } from "bun:test";

import { delaysIn } from "../../../src/outbound/model/retry-delays.ts";
import { json, until } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";
import { consoleForTests, inBrowser } from "../../support/console.ts";
import { post } from "../../support/flights.ts";
import { listed } from "../../support/operator.ts";

const hourMs = 3_600_000;

/** A receiver in the shape of Slack's incoming webhooks; `fails` makes it respond 500. */
function receiver() {
  const received: unknown[] = [];
  const state = { fails: false };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      if (state.fails) return new Response("no_service", { status: 500 });
      received.push(await request.json());
      return new Response("ok");
    },
  });
  const stop = () => server.stop(true);
  return { received, state, url: `http://127.0.0.1:${server.port}/services/T0/B0/X`, stop };
}

inBrowser("the Destinations view", () => {
  const slack = receiver();
  const clock = manualClock();
  const { server, browser } = consoleForTests({
    env: { DESTINATIONS_ALLOW_PRIVATE: "true" },
    clock,
    size: [1_440, 900],
  });
  const fill = (name: string, text: string) => browser.fill(`#field-${name}`, text);

  async function enter(role: "admin" | "operator"): Promise<void> {
    const signOut = "document.querySelector('.tools > button:last-child')";
    await browser.read(`void ${signOut}?.click()`);
    await browser.until(`${signOut} === null`);
    await browser.signIn(role);
    await browser.has("[data-row]");
  }

  beforeAll(async () => {
    await server.app.deliverSample("task_tracker", "task.completed");
    await server.app.deliverSample("deploy_platform", "deploy.error");
    await enter("admin");
  }, 60_000);
  afterAll(() => slack.stop());

  test("is empty at first, and offers to create a destination", async () => {
    await browser.go("#/destinations", ".empty", "No destinations yet");
    await browser.click(".empty a", ".detail h2", "New destination");
    expect(await browser.read("document.querySelector('#field-filter').checkVisibility()")).toBe(
      false,
    );
    await browser.read("document.querySelector('details:has(#field-filter)').open = true");
    await browser.isAccessible();
  });

  test("shows the errors of the server at the fields", async () => {
    await fill("name", "Deploys!");
    await fill("url", "ftp://example.com");
    await fill("filter", 'event.typ == "deploy.error"');
    await browser.shows(".preview .error", "line 1, column 7: No such key: typ");
    await browser.push("Create destination");
    await browser.shows("#field-name-note.error", "Use 1 to 63 lower-case letters");
    await browser.shows("#field-filter-note.error", "No such key: typ");
    expect(await browser.count(".preview li")).toBe(0);
    await browser.shows("#field-name[aria-invalid=true] ~ p", "Use 1 to 63");
    await fill("name", "deploys");
    await browser.push("Create destination", "#field-url-note.error", "must start with https://");
    await browser.shows("#field-filter-note.error", "No such key: typ");
    expect(await browser.count("#field-name-note.error")).toBe(0);
    await browser.isAccessible();
  });

  test("previews the filter on real notifications, with the clause that fails", async () => {
    await browser.fill(
      "#field-filter",
      'event.type == "deploy.error" && event.severity == "error"',
    );
    await browser.shows(".preview [role=status]", "Would send 1 of the newest 2");
    await browser.shows(".preview li:nth-child(1) .badge.good", "Would be sent");
    await browser.shows(".preview li:nth-child(2) .badge", "Filtered");
    await browser.shows(
      ".preview li:nth-child(2) .why",
      'event.type == "deploy.error" is false: event.type is "task.completed"',
    );
  });

  test("chooses the conditions of a filter, as long as it consists of them", async () => {
    const filter = "document.querySelector('#field-filter').value";
    const write = async (text: string) => {
      await browser.fill("#field-filter", text);
    };
    const choose = (selector: string, value: string) =>
      browser.read(`((field) => { field.value = ${JSON.stringify(value)};
        field.dispatchEvent(new Event("change", { bubbles: true })); })(
        document.querySelector(${JSON.stringify(`.condition:nth-of-type(1) ${selector}`)}))`);
    await browser.has(".condition", 2);
    await browser.push("Add condition");
    await browser.has(".condition", 3);
    await browser.until(`${filter}.endsWith('&& event.type.startsWith("")')`);
    await browser.isAccessible();
    await choose("[aria-label=Field]", "provider");
    await choose("[aria-label=Comparison]", "!=");
    await choose("[aria-label=Value]", "task_tracker");
    await browser.until(`${filter}.startsWith('event.provider != "task_tracker" && ')`);
    await browser.shows(".preview [role=status]", "Would send 1 of the newest 2");
    await write("size(event.title) > 3");
    await browser.lacks(".condition");
    await browser.shows(".preview [role=status]", "Would send 2 of the newest 2");
    await write('event.type = "deploy.error"');
    await browser.shows(".preview .error", "Use == for equality");
    expect(await browser.count(".preview li")).toBe(0);
    await write('event.type == "deploy.error" && event.severity == "error"');
    await browser.has(".condition", 2);
  });

  test("creates a destination, which receives what matches", async () => {
    await browser.fill("#field-url", slack.url);
    await browser.push("Create destination", "article.destination h2", "deploys");
    await browser.shows("article.destination .under", "Slack");
    expect(await browser.count(".secret")).toBe(0);
    expect(await browser.read("document.body.textContent.includes('T0/B0')")).toBe(false);
    await server.app.deliverSample("deploy_platform", "deploy.error");
    await server.app.deliverSample("task_tracker", "task.completed");
    await browser.shows(".lines .badge.good", "Delivered");
    await browser.shows(".stat", "100");
    await browser.shows("[data-row] .badge.good", "Active");
    expect(slack.received).toHaveLength(1);
  });

  test("sends a test, and shows its result until the next one", async () => {
    slack.state.fails = true;
    await browser.push("Send test");
    await browser.shows(".test-result", "Test not delivered HTTP 500: no_service, after ");
    slack.state.fails = false;
    await browser.push("Send test", ".test-result", "Test delivered HTTP 200, ");
    expect(slack.received).toHaveLength(2);
  });

  test("keeps deliveries while paused, and sends them on resume", async () => {
    await browser.push("Pause", ".explanation", "Deliveries are kept");
    await browser.shows("[data-row] .badge.warn", "Paused");
    await server.app.deliverSample("deploy_platform", "deploy.error");
    await browser.shows(".stat", "Waiting1");
    await browser.shows(".lines li", "waits until it is resumed");
    expect(slack.received).toHaveLength(2);
    await browser.push("Resume", ".stat", "Waiting0");
    await until(() => slack.received.length === 3);
  });

  test("lists dead letters with their attempts, and retries all", async () => {
    slack.state.fails = true;
    await server.app.deliverSample("deploy_platform", "deploy.error");
    for (let attempts = 1; attempts <= delaysIn(null).length + 1; attempts += 1) {
      const made = async () => {
        // The queue may have begun to sleep after the clock was advanced.
        clock.advance(20);
        const [newest] = await listed(server.app, "/v1/notifications?limit=1");
        return newest?.["attemptCount"] === attempts;
      };
      await until(made);
      clock.advance(7 * hourMs);
    }
    // The session has expired meanwhile.
    await enter("admin");
    // The newest, but after the one that fails.
    const unused = { name: "unused", format: "slack", url: slack.url };
    const path = "/v1/destinations";
    const { id } = await json(await server.app.as("admin", path, post(unused)));
    await browser.go("#/destinations");
    await browser.has("[data-row].destination", 2);
    await browser.shows("[data-row] .title", "unused");
    expect(await browser.text("[data-row] .title")).toBe("deploys");
    await server.app.as("admin", `${path}/${String(id)}`, { method: "DELETE" });
    await browser.has("[data-row].destination", 1);
    await browser.click("[data-row].destination");
    await browser.shows("[aria-labelledby=dead-deliveries] summary", "attempts");
    await browser.read(
      "document.querySelector('[aria-labelledby=dead-deliveries] details').open = true",
    );
    await browser.shows("[aria-labelledby=dead-deliveries] td", "HTTP 500: no_service");
    await browser.shows(".explanation", "The last attempt failed");
    await browser.shows("[data-row] .queue", "1 dead");
    await browser.isAccessible();
    slack.state.fails = false;
    await browser.go("#/destinations");
    await browser.click(".beside button", ".notice.good", "1 delivery will be sent again");
    await until(() => slack.received.length === 4);
    await browser.click("[data-row].destination", "article.destination h2", "deploys");
    await browser.lacks("[aria-labelledby=dead-deliveries]");
  });

  test("shows at an event what became of it at each destination", async () => {
    await browser.go("#/events");
    await browser.until("document.querySelectorAll('[data-row]').length > 2");
    const task =
      "[...document.querySelectorAll('[data-row]')].find((it) => it.textContent.includes('task.completed'))";
    await browser.read(`void ${task}.click()`);
    await browser.shows(".step .lines", "Filtered");
    await browser.shows(".step .lines", 'event.type is "task.completed"');
    await browser.read("void document.querySelector('.step .lines a').click()");
    await browser.shows("article.destination h2", "deploys");
  });

  test("shows a new secret once, also after it was rotated", async () => {
    await browser.go("#/destinations/new");
    await fill("name", "finance");
    await browser.read(`(() => {
      const format = document.querySelector("#field-format");
      format.value = "json";
      format.dispatchEvent(new Event("change", { bubbles: true }));
    })()`);
    await fill("url", slack.url);
    await browser.push("Create destination", ".secret .mono", "whsec_");
    const first = await browser.text(".secret .mono");
    await browser.push("I have stored it");
    await browser.lacks(".secret");
    await browser.push("Rotate secret", "dialog[open] h2", "Make a new secret for finance?");
    await browser.isAccessible();
    await browser.confirm(".secret .mono", "whsec_");
    expect(await browser.text(".secret .mono")).not.toBe(first);
    await browser.go("#/destinations");
    await browser.click("[data-row]", "article.destination h2", "finance");
  });

  test("asks before it removes a destination", async () => {
    await browser.push("Remove", "dialog[open] h2", "Remove finance?");
    await browser.click("dialog[open] button[value=cancel]");
    await browser.lacks("dialog[open]");
    await browser.shows("article.destination h2", "finance");
    await browser.push("Remove");
    await browser.confirm();
    await browser.until(
      "location.hash === '#/destinations' && document.querySelectorAll('[data-row]').length === 1",
    );
  });

  test("hides the users' destinations until asked for", async () => {
    const hers = { name: "hers", format: "json", url: slack.url };
    await server.app.as("user", "/v1/destinations", post(hers), "ada");
    await browser.go("#/destinations?owner=all", "[data-row] .kind", "of a user");
    await browser.go("#/destinations");
    await browser.has("[data-row]", 1);
  });

  test("leaves its user alone who went elsewhere before it was created", async () => {
    await browser.go("#/destinations/new", ".detail h2", "New destination");
    await fill("name", "late");
    await fill("url", slack.url);
    await browser.read(`(() => {
      const { fetch } = window;
      window.fetch = async (...request) => {
        const response = await fetch(...request);
        if (response.status === 201) {
          await new Promise((resolve) => setTimeout(resolve, 500));
          setTimeout(() => { window.isMade = true; }, 500);
        }
        return response;
      };
    })()`);
    await browser.push("Create destination");
    await browser.go("#/events", "h1", "Events");
    await browser.until("window.isMade");
    expect(await browser.read("location.hash")).toBe("#/events");
  });

  test("lets operators look, not change", async () => {
    await enter("operator");
    await browser.go("#/destinations", "[data-row].destination", "deploys");
    expect(await browser.count("a.button")).toBe(0);
    await browser.read(`[...document.querySelectorAll("[data-row]")]
      .find((it) => it.textContent.includes("deploys")).click()`);
    await browser.shows("[aria-labelledby=last-deliveries] .badge", "Delivered");
    expect(await browser.count(".detail .actions")).toBe(0);
    await browser.go("#/destinations/new", ".detail .empty", "Admins only");
  });

  test("logs no error", () => {
    browser.loggedNoError();
  });
});
