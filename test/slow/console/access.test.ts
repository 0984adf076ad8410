import { beforeAll, expect, test } from "bun:test";

import { json } from "../../support/app.ts";
import { consoleForTests, inBrowser } from "../../support/console.ts";
import { post } from "../../support/flights.ts";
import { rpcRequest } from "../../support/mcp.ts";

inBrowser("tokens of agents in the console", () => {
  const { server, browser } = consoleForTests();
  const statusOf = async (token: string) =>
    (await server.app.app.handle(rpcRequest({ token }, "tools/list"))).status;
  const html = () => browser.read("document.documentElement.outerHTML");
  let token: string;

  beforeAll(async () => {
    const another = post({ name: "of another" });
    const made = await server.app.as("operator", "/v1/sessions", another, "ada");
    const { token: used } = await json(made);
    const call = { name: "overview", arguments: {} };
    for (const _ of [1, 2]) {
      await server.app.app.handle(rpcRequest({ token: String(used) }, "tools/call", call));
    }
    await browser.signIn("operator", ".empty", "No events yet");
  }, 60_000);

  test("an operator makes one, which is shown once with what each client needs", async () => {
    await browser.go("#/access", ".empty", "No tokens yet");
    await browser.isAccessible();
    await browser.click(".bar a.button");
    await browser.has("input[name=name]");
    await browser.click(".detail form button.primary", ".field.invalid", "1 to 100 characters");
    await browser.type("Claude Code");
    await browser.click("input[name=writes]");
    await browser.isAccessible();
    await browser.click(".detail form button.primary", ".secret", "it is not shown again");
    token = String(await browser.text(".secret .mono"));
    expect(token).toMatch(/^skyhook_mcp_[\w-]{43}$/);
    await browser.isAccessible();
    const text = await browser.text(".detail");
    const header = `"Authorization: Bearer ${token}"`;
    const command = `claude mcp add --transport http skyhook ${server.url}/mcp --header ${header}`;
    const inFile = `"url": "${server.url}/mcp"`;
    const program = `SKYHOOK_MCP_TOKEN=${token} skyhook mcp --server ${server.url}`;
    for (const each of [command, inFile, program]) expect(text).toContain(each);
    expect(await statusOf(token)).toBe(200);
    await browser.go("#/access");
    await browser.has(".row.credential:not(.head)", 1);
    await browser.shows(".row.credential:not(.head)", "reads, writes");
    await browser.isAccessible();
    expect(await html()).not.toContain(token);
  });

  test("and revokes it, after a question", async () => {
    await browser.click(".act > button", "dialog[open]", "Revoke the token Claude Code?");
    await browser.click("dialog[open] button[value=cancel]");
    expect(await statusOf(token)).toBe(200);
    await browser.click(".act > button");
    await browser.confirm(".notices", "Token revoked");
    await browser.shows(".empty", "No tokens yet");
    expect(await statusOf(token)).toBe(401);
  });

  test("an operator makes an API key, which works until it is revoked", async () => {
    await browser.go("#/access?kind=key", ".empty", "No API keys yet");
    await browser.isAccessible();
    await browser.click(".bar a.button");
    await browser.has("input[name=name]");
    expect(await browser.text("select[name=role]")).not.toContain("admin");
    await browser.type("Nightly export");
    await browser.read("document.querySelector('select[name=role]').value = 'operator'");
    await browser.isAccessible();
    await browser.click(".detail form button.primary", ".secret", "it is not shown again");
    const key = String(await browser.text(".secret .mono"));
    expect(key).toMatch(/^skyhook_key_[\w-]{43}$/);
    await browser.isAccessible();
    const headers = { authorization: `Bearer ${key}` };
    const statusOfKey = async () => (await server.app.fetch("/v1/events", { headers })).status;
    await browser.go("#/access?kind=key");
    await browser.shows(".row.credential:not(.head)", "Not used yet");
    expect(await statusOfKey()).toBe(200);
    await browser.shows(".row.credential:not(.head)", "operator", "Last used");
    await browser.isAccessible();
    expect(await html()).not.toContain(key);
    await browser.click(".act > button", "dialog[open]", "Revoke the API key Nightly export?");
    await browser.confirm(".notices", "API key revoked");
    await browser.shows(".empty", "No API keys yet");
    expect(await statusOfKey()).toBe(401);
  });

  test("an admin sees those of all, and what leads to their calls", async () => {
    await browser.read(
      "fetch('v1/auth/session', { method: 'DELETE', headers: { 'x-skyhook-console': '1' } })",
    );
    await browser.signIn("admin", ".empty", "No events yet");
    await browser.go("#/access", ".row.credential:not(.head)", "of another");
    await browser.shows(".row.credential:not(.head) .calls", "2 calls, last ");
    await browser.click(".row.credential:not(.head) .calls a");
    await browser.has("li .audit-entry", 2);
    await browser.shows("li .audit-entry .kind", "of another");
    await browser.go("#/access", ".row.credential:not(.head)", "of another");
    await browser.click(".bar a[href*=audit]");
    await browser.isAt("#/audit?action=agent.called");
  });
});
