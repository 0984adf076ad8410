import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { until } from "../../../support/app.ts";
import { noChromium, openBrowser } from "../../../support/browser.ts";
import { appForAll } from "../../../support/running-app.ts";
import { skips } from "../../../support/skips.ts";

const app = appForAll();

describe.skipIf(skips(noChromium))("in a browser", () => {
  const sent: Request[] = [];
  let server: Bun.Server<undefined>;
  const browser = openBrowser(1_440, 900);
  beforeAll(async () => {
    server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      // Streams of the console, and a busy machine, take longer than the default of 10 s.
      idleTimeout: 0,
      fetch(request) {
        sent.push(request);
        const { pathname, search } = new URL(request.url);
        return app.fetch(pathname + search, request);
      },
    });
  });
  afterAll(async () => {
    await browser.close();
    await server.stop(true);
  });

  /** Opens the page as a new page load. */
  const open = async () => {
    await browser.open("about:blank");
    await browser.open(`${server.url.href}swagger`);
    await browser.shows("section", "Search flights");
  };
  const buttonWith = (text: string, within = "document") =>
    `[...${within}.querySelectorAll("button")].findLast((it) => it.textContent.includes(${JSON.stringify(text)}) && it.checkVisibility())`;
  const press = async (button: string) => {
    await browser.until(button);
    await browser.read(`${button}.click()`);
  };
  /** Sends the request of an operation with the values that the page prefills. */
  const send = async (tag: string, operation: string): Promise<Request> => {
    await browser.read(`location.hash = "#tag/${tag}/${operation}"`);
    const section = `document.querySelector('section[id$="${operation}"]')`;
    await browser.until(section);
    await press(buttonWith("Test Request", section));
    const before = sent.length;
    await press(buttonWith("Send"));
    // The page has requests of its own, which a busy machine delays until now.
    const isSent = ({ method, url }: Request) => method + new URL(url).pathname === operation;
    const found = () => sent.slice(before).find(isSent);
    await until(() => found() !== undefined, 20_000);
    const request = found();
    if (request === undefined) throw new Error("Nothing was sent");
    return request;
  };
  const enterToken = async (token: string) => {
    // Selects the text, so that typing replaces it.
    await browser.read(`document.querySelector("input[placeholder=Token]").select()`);
    await browser.type(token);
  };
  const storedToken = `sessionStorage.getItem("skyhook.token")`;

  test("shows and finds operations, adds a fresh Idempotency-Key, and loads nothing from other origins", async () => {
    await open();
    await browser.shows("h1", "Skyhook");
    expect(await browser.read(`document.querySelectorAll("main, [role=main]").length`)).toBe(1);
    await press(buttonWith("Search"));
    await browser.until(`document.querySelector("[role=dialog] input")`);
    await browser.type("cancel");
    await browser.shows("[role=option]", "Cancel a booking");
    await browser.press("Escape");
    const keys: string[] = [];
    for (const [tag, path] of [
      ["bookings", "/v1/api/bookings"],
      ["users", "/v1/users"],
    ] as const) {
      const request = await send(tag, `POST${path}`);
      expect([request.method, new URL(request.url).pathname]).toEqual(["POST", path]);
      keys.push(String(request.headers.get("idempotency-key")));
      expect(keys.at(-1)).toMatch(/^[0-9a-f]{32}$/);
      await browser.press("Escape");
    }
    expect(new Set(keys).size).toBe(keys.length);
    const others = browser.requestedUrls.filter((address) => !address.startsWith(server.url.href));
    expect(others.filter((address) => !/^(?:data|blob|about):/.test(address))).toEqual([]);
    const violations = `new Promise((resolve) => {
      const observer = new ReportingObserver(() => {}, { types: ["csp-violation"], buffered: true });
      observer.observe();
      setTimeout(() => resolve(observer.takeRecords().map((it) => it.body.blockedURL + " " + it.body.effectiveDirective).join()), 100);
    })`;
    expect(await browser.read(violations)).toBe("");
    expect(browser.consoleMessages.filter((line) => /Content Security/i.test(line))).toEqual([]);
    expect(browser.requestedUrls).toContain(`${server.url.href}openapi.json`);
  });

  test("uses the session of the console where no token was entered", async () => {
    const token = await app.services.tokens.mint({ id: "ada", roles: ["operator"] }, 3_600);
    await browser.open(`${server.url.href}console`);
    await browser.has(".sign-in summary");
    await browser.click(".sign-in summary");
    await browser.click("input[name=token]");
    await browser.type(token);
    await browser.click("button[type=submit]", "h1", "Issues");
    await open();
    const request = await send("events", "GET/v1/events");
    const cookie = request.headers.get("cookie") ?? "";
    expect(cookie).toStartWith("skyhook=");
    expect(request.headers.get("x-skyhook-console")).toBe("1");
    expect((await app.fetch("/v1/events", { headers: { cookie } })).status).toBe(200);
    await browser.press("Escape");
    await browser.cdp("Network.clearBrowserCookies");
  });

  test("sends the entered token, and stores it for the tab if the server accepts it", async () => {
    const token = await app.services.tokens.mint({ id: "u", roles: ["user"] }, 3_600);
    await open();
    await enterToken("expired");
    const rejected = await send("bookings", "GET/v1/api/bookings");
    expect(rejected.headers.get("authorization")).toBe("Bearer expired");
    await browser.shows("[role=dialog]", "401");
    expect(await browser.read(storedToken)).toBeNull();

    await browser.press("Escape");
    await enterToken(token);
    const request = await send("bookings", "GET/v1/api/bookings");
    expect(request.headers.get("authorization")).toBe(`Bearer ${token}`);
    await browser.until(storedToken);
    await open();
    const field = `document.querySelector("input[placeholder=Token]").value`;
    expect(await browser.read(field)).toBe(token);
    expect(await browser.read("JSON.stringify(localStorage)")).not.toContain(token);
  });
});
