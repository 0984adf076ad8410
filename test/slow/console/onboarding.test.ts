import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { catalogueFiles } from "../../../src/inbound/providers/files/catalogue-files.ts";
import { readProvider } from "../../../src/inbound/providers/files/folder.ts";
import { signedSample } from "../../../src/inbound/providers/signed-sample.ts";
import { consoleForTests, inBrowser } from "../../support/console.ts";

const secret = "0b4d1e6a97c85f3272e8d90a41c6b35f";

inBrowser("adding a provider in the console", () => {
  const root = mkdtempSync(join(tmpdir(), "skyhook-console-"));
  const [providersDir, secretsDir] = [join(root, "providers"), join(root, "secrets")];
  const { server, browser } = consoleForTests({
    env: { PROVIDERS_DIR: providersDir },
    options: { secretsDir },
  });

  beforeAll(() => browser.signIn("admin", ".empty", "No events yet"), 60_000);
  afterAll(() => rmSync(root, { recursive: true }));

  test("finds Slack, stores its secret, shows the URL, and a test event arrives", async () => {
    await browser.go("#/providers");
    await browser.click(".bar a.button");
    await browser.has(".services a", Object.keys(catalogueFiles).length);
    await browser.isAccessible();
    await browser.type("slac");
    await browser.has(".services a", 1);
    await browser.press("Enter");
    await browser.shows("h1", "Add Slack");
    await browser.shows(".panel", "Signing Secret under Basic Information");
    await browser.shows("code.address", `${server.url}/webhooks/slack`);
    await browser.shows('a[href="https://api.slack.com/apps"]', "Open Slack");
    await browser.isAccessible();
    await browser.fill("input[name=secret]", secret);
    await browser.click("form button.primary");
    await browser.isAt("#/providers/slack");
    await browser.shows("code.address", `${server.url}/webhooks/slack`);
    await browser.shows(".badge.good", "Stored");
    await browser.shows(".badge.quiet", "No delivery yet");
    const file = join(secretsDir, "slack_webhook_secret");
    expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777]).toEqual([secret, 0o600]);
    expect(await browser.read(`document.documentElement.outerHTML.includes("${secret}")`)).toBe(
      false,
    );
    await browser.shows(".waiting", "Waiting for the first event");
    await browser.click("form button.primary", "[data-arrivals] a", "is the deploy done?");
    // A test event does not show that the URL was entered at the service.
    await browser.shows(".badge.quiet", "No delivery yet");
    await browser.isAccessible();
    await browser.click("[data-arrivals] a", ".step h3", "Received and verified");
  });

  test("shows a delivery of the service itself, live", async () => {
    await browser.go("#/providers/slack");
    await browser.has("[data-arrivals] li", 1);
    const provider = readProvider("slack", join(providersDir, "slack.yaml"));
    const sample = provider.samples["channel_archive"];
    if (sample === undefined) throw new Error("Slack has no such sample");
    const fresh = { id: crypto.randomUUID(), now: new Date(server.app.clock.now()) };
    const { headers, bytes } = signedSample(provider, sample, { secret }, fresh);
    const init = { method: "POST", headers, body: bytes };
    expect((await fetch(`${server.url}/webhooks/slack`, init)).status).toBe(200);
    await browser.has("[data-arrivals] li", 2);
    await browser.shows("[data-arrivals] li:first-child", "channel.archived");
    await browser.shows(".badge.good", "Done, last delivery");
  });

  test("a made secret is shown once", async () => {
    await browser.go("#/providers/new?service=svix");
    await browser.click("input[value=make]");
    await browser.click("form button.primary");
    await browser.isAt("#/providers/svix");
    await browser.shows(".secret .mono", "whsec_");
    expect(await browser.text(".secret .mono")).toBe(
      readFileSync(join(secretsDir, "svix_webhook_secret"), "utf8"),
    );
    await browser.go("#/providers", "h2", "Svix");
    const links = "[...document.querySelectorAll('.links a')]";
    const names = await browser.read(`${links}.map((it) => it.ariaLabel).join()`);
    expect(names).toEndWith("Set up: Svix senders,Events: Svix senders,Rejected: Svix senders");
    await browser.go("#/providers/svix", ".badge.good", "Stored");
    expect(await browser.count(".secret .mono")).toBe(0);
  });

  test("a pasted file shows each error with its line, and selects it", async () => {
    await browser.go("#/providers/new?service=%7Efile");
    await browser.has("textarea");
    const wrong = (catalogueFiles["linear"] ?? "").replace("events:", "evnts:");
    const set = (value: string) =>
      browser.read(`(() => { const area = document.querySelector("textarea");
        area.value = ${JSON.stringify(value)}; area.dispatchEvent(new Event("input", { bubbles: true })); })()`);
    await set(wrong);
    await browser.fill("input[name=id]", "my_linear");
    await browser.shows("code.address", "/webhooks/my_linear");
    const reveal = (selector: string) =>
      browser.read(`void document.querySelector("${selector}").scrollIntoView()`);
    await reveal("input[value=later]");
    await browser.click("input[value=later]");
    await reveal("form button.primary");
    await browser.click("form button.primary");
    await browser.shows(".problems li", '"evnts" is unknown. Did you mean "events"?');
    await browser.isAccessible();
    await browser.click(".problems li:last-child button");
    const selected = `(({ value, selectionStart, selectionEnd }) =>
      value.slice(selectionStart, selectionEnd))(document.querySelector("textarea"))`;
    expect(await browser.read(selected)).toBe("evnts:");
    expect(readdirSync(providersDir).includes("my_linear.yaml")).toBe(false);
    await set(catalogueFiles["linear"] ?? "");
    await reveal("form button.primary");
    await browser.click("form button.primary");
    await browser.isAt("#/providers/my_linear");
    await browser.shows(".badge.warn", "No secret");
    await browser.shows(".panel", "Store the secret first.");
    await browser.isAccessible();
    await browser.scheme("dark");
    await browser.isAccessible();
    await browser.scheme("light");
  });

  test("a secret is stored later, and one that cannot be used is explained", async () => {
    await browser.go("#/providers/new?service=standard_webhooks", "h1", "Add Standard Webhooks");
    await browser.click("form button.primary", "#field-secret-note", "Enter the secret");
    await browser.click("input[value=later]");
    await browser.click("form button.primary");
    await browser.isAt("#/providers/standard_webhooks");
    await browser.fill("input[name=secret]", "!!");
    await browser.click("form.stack button.primary");
    await browser.shows("#field-secret-note", "The secret must be `whsec_` and base64");
    await browser.fill("input[name=secret]", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    await browser.click("form.stack button.primary");
    await browser.shows("#field-secret-note", "an example from documentation");
    await browser.click("input[value=make]");
    await browser.click("form.stack button.primary", ".secret .mono", "whsec_");
    await browser.shows(".badge.good", "Stored");
  });

  test("operators see the list, but not what only admins may do", async () => {
    await browser.signInAgain("operator");
    await browser.go("#/providers", "h2", "Slack");
    expect(await browser.count("a.button")).toBe(0);
    await browser.go("#/providers/slack", "h1", "Providers");
    await browser.go("#/providers/new", "h1", "Providers");
  });
});
