import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { serveApp, type ServedApp } from "../../support/served-app.ts";

// The official client library, as hosts of agents use it.

describe.each([
  ["auto", "2026-07-28"],
  ["legacy", "2025-11-25"],
] as const)("the official client, with %s negotiation", (mode, version) => {
  let served: ServedApp;
  const client = new Client(
    { name: "official-client", version: "1.0.0" },
    { versionNegotiation: { mode } },
  );
  beforeAll(async () => {
    served = await serveApp();
    await served.app.deliverSample("deploy_platform", "deploy.error");
    const headers = { authorization: `Bearer ${served.token}` };
    const url = new URL(`${served.url}/mcp`);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  });
  afterAll(async () => {
    await client.close();
    await served.stop();
  });

  test("agrees on the newest version that it speaks", () => {
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    expect(client.getServerVersion()?.name).toBe("skyhook");
  });

  test("lists the tools and calls them", async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("search_events");
    const called = await Promise.all(
      ["overview", "search_events"].map((name) => client.callTool({ name, arguments: {} })),
    );
    expect(called.map(({ isError }) => isError)).toEqual([undefined, undefined]);
    expect(JSON.stringify(called)).toContain("deploy.error");
  });

  test("reads a resource and gets a prompt", async () => {
    const { resources } = await client.listResources();
    expect(resources.length).toBeGreaterThan(10);
    const uri = "skyhook://docs/operations.md";
    const { contents } = await client.readResource({ uri });
    expect(contents).toMatchObject([{ uri, text: expect.stringContaining("# Operations") }]);
    const given = { name: "why_did_it_not_arrive", arguments: { what: "the deploy of 10:00" } };
    const { messages } = await client.getPrompt(given);
    expect(JSON.stringify(messages)).toContain("the deploy of 10:00");
  });

  test("without a token, the response links to the metadata of the server", async () => {
    const { headers } = await fetch(`${served.url}/mcp`, { method: "POST" });
    const metadata = `${served.url}/.well-known/oauth-protected-resource/mcp`;
    expect(headers.get("www-authenticate")).toBe(`Bearer resource_metadata="${metadata}"`);
    expect(await (await fetch(metadata)).json()).toMatchObject({ resource: `${served.url}/mcp` });
  });
});
