import { afterAll, beforeAll, expect, test } from "bun:test";

import { openBrowser } from "../../support/browser.ts";
import { type ConsoleServer, inBrowser, pastClock, startConsole } from "../../support/console.ts";
import { freePort } from "../../support/free-port.ts";
import { type FakeIssuer, issuerSettings, startIssuer } from "../../support/issuer.ts";

inBrowser("sign-in by OpenID Connect in a browser", () => {
  let issuer: FakeIssuer;
  let server: ConsoleServer;
  const browser = openBrowser();

  beforeAll(async () => {
    // Another site than the console's, so that the browser treats the redirects as cross-site.
    issuer = await startIssuer(Date.now, "localhost");
    // The issuer's redirect needs the address before the server listens.
    const port = freePort();
    server = await startConsole(
      issuerSettings(issuer, `http://127.0.0.1:${port}`),
      pastClock(),
      {},
      port,
    );
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await server.stop();
    await issuer.stop();
  });

  test("opens the deep link, with a session that scripts cannot read", async () => {
    await browser.open(`${server.url}/console#/people/ada@example.com`);
    await browser.shows(".sign-in a.button", "Sign in with");
    expect(await browser.read("document.querySelector('.sign-in a.button').search")).toBe(
      "?return=%23%2Fpeople",
    );
    await browser.open("about:blank");
    await browser.open(`${server.url}/console#/events?provider=code_host`);
    await browser.shows(".sign-in a.button", `Sign in with ${new URL(issuer.url).host}`);
    expect(await browser.accessibilityViolations()).toEqual([]);
    await browser.click(".sign-in a.button", ".connection", "Live");
    expect(await browser.read("location.pathname + location.hash")).toBe(
      "/console#/events?provider=code_host",
    );
    expect(await browser.read("document.cookie.length")).toBe(0);
    expect(issuer.requests).toContain("/authorize");
  });

  test("tells the other tabs", async () => {
    // A channel hears all others of its name, also those of its own page.
    await browser.cdp("Page.addScriptToEvaluateOnNewDocument", {
      source: `window.otherTab = new BroadcastChannel("skyhook.session");
        window.otherTab.onmessage = () => { window.heard = true; };`,
    });
    await browser.open(`${server.url}/console/oidc/start`);
    await browser.until("window.heard === true");
    await browser.shows(".connection", "Live");
  });

  test("shows a page for a user without a role", async () => {
    issuer.claims = { email: "ada@example.com" };
    await browser.open(`${server.url}/console/oidc/start`);
    await browser.shows(".error", "as ada@example.com, but have no role");
    expect(await browser.accessibilityViolations()).toEqual([]);
    await browser.click("a");
    await browser.until("location.pathname === '/console'");
  });
});
