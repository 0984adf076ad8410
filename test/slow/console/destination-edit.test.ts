import { beforeAll, expect, test } from "bun:test";

import { json } from "../../support/app.ts";
import { consoleForTests, inBrowser } from "../../support/console.ts";
import { post } from "../../support/flights.ts";
import { gatewayEnv } from "../../support/gateway.ts";

const url = "http://127.0.0.1:1024/hook?token=secret";

inBrowser("the form that changes a destination", () => {
  const { server, browser } = consoleForTests({
    env: { ...gatewayEnv("http://127.0.0.1:9/"), DESTINATIONS_ALLOW_PRIVATE: "true" },
    size: [1_440, 900],
  });
  let id: string;
  /** Replaces the text of a field, as typing does. */
  const fill = async (name: string, text: string) => {
    await browser.read("document.querySelectorAll('details').forEach((it) => (it.open = true))");
    await browser.fill(`#field-${name}`, text);
  };
  const stored = async () => json(await server.app.as("admin", `/v1/destinations/${id}`));
  const change = (fields: object) =>
    server.app.as("admin", `/v1/destinations/${id}`, { ...post(fields), method: "PATCH" });
  /** The bodies of the changes that the page has sent. */
  const sent = async (): Promise<unknown> => JSON.parse(String(await browser.read("sentChanges")));
  async function edit(): Promise<void> {
    await browser.go(`#/destinations/${id}`);
    await browser.push("Edit", ".detail h2", "Edit ");
    await browser.until("document.activeElement.id === 'field-name'");
  }

  beforeAll(async () => {
    await server.app.services.prepare();
    await server.app.deliverSample("deploy_platform", "deploy.error");
    await server.app.deliverSample("task_tracker", "task.completed");
    const create = async (name: string) => {
      const body = { name, format: "json", url, filter: 'event.type == "a"' };
      return json(await server.app.as("admin", "/v1/destinations", post(body)));
    };
    await create("taken");
    id = String((await create("deploys"))["id"]);
    await browser.signIn("admin");
    await browser.has("[data-row]");
    await browser.read(`void (() => {
      window.sentChanges = "[]";
      const realFetch = fetch;
      window.fetch = (path, options) => {
        if (options?.method === "PATCH")
          sentChanges = JSON.stringify([...JSON.parse(sentChanges), JSON.parse(options.body)]);
        return realFetch(path, options);
      };
    })()`);
  }, 60_000);

  test("opens with what is stored, but for the address, and focuses the name", async () => {
    await edit();
    expect(
      await browser.read(
        "['name', 'url', 'filter', 'orderBy', 'ratePerSecond', 'maxConcurrent'].map((name) => document.querySelector('#field-' + name).value).join('|')",
      ),
    ).toBe('deploys||event.type == "a"|||8');
    expect(await browser.read("document.querySelector('#field-url').placeholder")).toBe(
      "http://127.0.0.1:1024/…",
    );
    await browser.shows(".preview [role=status]", "Would send 0 of the newest 2");
    await browser.isAccessible();
  });

  test("shows every error of the server at its field, and stores nothing", async () => {
    await fill("name", "Deploys!");
    await browser.push("Save", "#field-name-note.error", "Use 1 to 63 lower-case letters");
    await browser.until("document.activeElement.id === 'field-name'");
    await fill("name", "deploys-2");
    await fill("url", "ftp://example.com");
    await fill("filter", "event.typ == 1");
    await fill("orderBy", "title");
    await fill("ratePerSecond", "5000");
    await browser.push("Save", "#field-url-note.error", "must start with https://");
    await browser.shows("#field-filter-note.error", "No such key: typ");
    await browser.shows("#field-orderBy-note.error", "such as event.subject");
    await browser.shows("#field-ratePerSecond-note.error", "from 1 to 1000");
    await browser.shows(".preview .error", "No such key: typ");
    expect(await browser.count("#field-name-note.error")).toBe(0);
    await browser.isAccessible();
    expect(await stored()).toMatchObject({ name: "deploys", orderBy: null, ratePerSecond: null });
  });

  test("sends only what was changed, and shows the result", async () => {
    await browser.push("Cancel");
    await edit();
    await browser.read("void (sentChanges = '[]')");
    await fill("name", "releases");
    await fill("filter", 'event.type == "deploy.error"');
    await browser.shows(".preview [role=status]", "Would send 1 of the newest 2");
    await fill("orderBy", "event.subject");
    await fill("ratePerSecond", "5");
    await browser.push("Save", ".notice.good", "Saved");
    await browser.shows("article.destination h2", "releases");
    await browser.shows("article.destination .facts", "5 per second, 8 at a time");
    await browser.shows("[data-row] .title", "releases");
    expect(await sent()).toEqual([
      {
        name: "releases",
        filter: 'event.type == "deploy.error"',
        orderBy: "event.subject",
        ratePerSecond: 5,
      },
    ]);
    // For the keyboard: the form had the focus.
    await browser.until("document.activeElement.matches('[data-pane]')");
  });

  test("an empty field removes the filter, the order and the limit", async () => {
    await edit();
    await browser.read("void (sentChanges = '[]')");
    for (const name of ["filter", "orderBy", "ratePerSecond"]) await fill(name, "");
    // Not by its position: the preview may still move the form.
    await browser.read("document.querySelector('.detail input[name=alerts]').click()");
    await browser.push("Save", "article.destination .facts", "None: receives all events");
    await browser.shows("article.destination .badge", "Alerts");
    expect(await sent()).toEqual([
      { filter: null, orderBy: null, ratePerSecond: null, alerts: true },
    ]);
  });

  test("shows a conflict at its field, and keeps what somebody else changed elsewhere", async () => {
    await edit();
    await change({ filter: 'event.type == "theirs"', maxConcurrent: 3 });
    await fill("filter", 'event.type == "mine"');
    await browser.push("Save");
    await browser.shows("#field-filter-note.error", 'else set this to event.type == "theirs"');
    expect(await stored()).toMatchObject({ filter: 'event.type == "theirs"' });
    expect(await browser.read("document.querySelector('#field-filter').value")).toBe(
      'event.type == "mine"',
    );
    await browser.isAccessible();
    await browser.push("Save");
    await browser.shows("article.destination .facts", 'event.type == "mine"');
    expect(await stored()).toMatchObject({ filter: 'event.type == "mine"', maxConcurrent: 3 });
  });

  test("says that the destination was removed meanwhile", async () => {
    const body = { name: "short-lived", format: "json", url };
    const { id: removed } = await json(
      await server.app.as("admin", "/v1/destinations", post(body)),
    );
    await browser.go(`#/destinations/${String(removed)}`, "article.destination h2", "short-lived");
    await browser.push("Edit");
    await fill("ratePerSecond", "5");
    await server.app.as("admin", `/v1/destinations/${String(removed)}`, { method: "DELETE" });
    await browser.push("Save", "[role=alert]", "No destination has this id");
  });

  test("the operator gateway keeps the name and address of the server's settings", async () => {
    await browser.go("#/destinations/dst_00000000000000000000000000000000");
    await browser.shows("article.destination h2", "operator-gateway");
    await browser.push("Edit", ".form .quiet", "OPERATOR_GATEWAY_URL");
    expect(await browser.count("#field-name, #field-url")).toBe(0);
    await fill("maxConcurrent", "4");
    await browser.push("Save", ".notice.good", "Saved");
    await browser.shows("article.destination .facts", "4 at a time");
  });
});
