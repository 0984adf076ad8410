import { describe, expect, test } from "bun:test";

import { tools } from "../../src/mcp/tools/tools.ts";
import { json, startApp } from "../support/app.ts";
import { expectLimited } from "../support/limited.ts";
import { agentAs, agentOf, rpcRequest } from "../support/mcp.ts";
import { itemsOf, listed } from "../support/operator.ts";
import { appForAll } from "../support/running-app.ts";

const publicUrl = "https://hooks.example.com";
const metadata = `resource_metadata="${publicUrl}/.well-known/oauth-protected-resource/mcp"`;

describe("/mcp", () => {
  const app = appForAll({ PUBLIC_URL: publicUrl, CORS_ORIGINS: "https://inspector.example.com" });
  const ask = (request: Request) => app.app.handle(request);
  const tokenOf = (role: "user" | "operator") =>
    app.services.tokens.mint({ id: `test-${role}`, roles: [role] }, 3_600);
  /** A token that an operator makes for an agent. */
  const agentToken = async (body: object) => {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify({ name: "test", ...body }) };
    const { token } = await json(await app.as("operator", "/v1/sessions", init));
    return String(token);
  };

  test.each([
    ["no token", {}, 401, `Bearer ${metadata}`],
    [
      "a wrong token",
      { authorization: "Bearer no" },
      401,
      `Bearer error="invalid_token", ${metadata}`,
    ],
    ["a cookie", { cookie: "skyhook=abc; __Host-skyhook=abc" }, 401, `Bearer ${metadata}`],
    ["another site", { origin: "https://evil.example.com" }, 403, null],
    ["a page in a sandbox", { origin: "null" }, 403, null],
  ])(
    "rejects %s, and says where to get a token",
    async (_, headers: Record<string, string>, status, challenge) => {
      const request = rpcRequest({ token: "" }, "tools/list");
      request.headers.delete("authorization");
      for (const [name, value] of Object.entries(headers)) request.headers.set(name, value);
      const answer = await ask(request);
      expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([status, challenge]);
    },
  );

  test("serves operators only, from listed origins and without one", async () => {
    const statusOf = async (role: "user" | "operator", origin?: string) => {
      const headers = origin === undefined ? {} : { origin };
      const request = rpcRequest({ token: await tokenOf(role), headers }, "tools/list");
      return (await ask(request)).status;
    };
    expect(await statusOf("user")).toBe(403);
    expect(await statusOf("operator")).toBe(200);
    expect(await statusOf("operator", "https://inspector.example.com")).toBe(200);
    expect(await statusOf("operator", publicUrl)).toBe(200);
    expect(await statusOf("operator", "http://localhost:6274")).toBe(200);
  });

  test("nothing may store what an agent reads", async () => {
    const answer = await ask(rpcRequest({ token: await tokenOf("operator") }, "tools/list"));
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });

  test("pages of listed origins may send what agents send", async () => {
    const origin = "https://inspector.example.com";
    const headers = { origin, "access-control-request-method": "POST" };
    const preflight = await app.fetch("/mcp", { method: "OPTIONS", headers });
    const allowed = preflight.headers
      .get("access-control-allow-headers")
      ?.toLowerCase()
      .split(", ");
    const sent = [...rpcRequest({ token: "" }, "tools/call", { name: "overview" }).headers.keys()];
    // Pages may always set it.
    expect(allowed).toEqual(expect.arrayContaining(sent.filter((name) => name !== "accept")));
  });

  test.each(["tools", "resources", "resources/templates", "prompts"])(
    "a cursor for more %s is invalid, since there is one page",
    async (list) => {
      const agent = await agentAs(app);
      const { error } = await agent.call(`${list}/list`, { cursor: "nonsense" });
      expect(error?.code).toBe(-32_602);
      expect((await agent.call(`${list}/list`)).error).toBeUndefined();
    },
  );

  test.each(["constructor", "__proto__", "decisions%2FREADME.md"])(
    "the resource docs/%s is not found",
    async (page) => {
      const agent = await agentAs(app);
      const { error } = await agent.call("resources/read", { uri: `skyhook://docs/${page}` });
      expect(error?.message).toStartWith("No page");
    },
  );

  test.each(["", "/mcp"])(
    "describes itself at /.well-known/oauth-protected-resource%s",
    async (path) => {
      const answer = await app.fetch(`/.well-known/oauth-protected-resource${path}`);
      expect(await json(answer)).toEqual({
        resource: `${publicUrl}/mcp`,
        resource_name: "Skyhook",
        resource_documentation: `${publicUrl}/docs/agents`,
        bearer_methods_supported: ["header"],
      });
    },
  );

  test("names the identity provider whose tokens it accepts", async () => {
    const JWT_ISSUER = "https://id.example.com";
    await using other = await startApp({ JWKS_URL: `${JWT_ISSUER}/jwks`, JWT_ISSUER });
    const answer = await other.fetch("/.well-known/oauth-protected-resource/mcp");
    expect(await json(answer)).toMatchObject({ authorization_servers: [JWT_ISSUER] });
  });

  test("the resources are the pages of the docs, without decision records", async () => {
    const agent = await agentAs(app);
    const { result } = await agent.call("resources/list");
    const uris = itemsOf(Object(result)["resources"]).map(({ uri }) => String(uri));
    expect(uris).toContain("skyhook://docs/agents.md");
    expect(uris.filter((uri) => !/^skyhook:\/\/docs\/[^/]+\.md$/.test(uri))).toEqual([]);
  });

  test("a tool that was not allowed is not there, and hints are accurate", async () => {
    const namesFor = async (body: object) => {
      const agent = await agentAs(app, { token: await agentToken(body) });
      const { result } = await agent.call("tools/list");
      const found: readonly { readonly name: string; annotations: Record<string, boolean> }[] =
        Object(result)["tools"];
      for (const { name, annotations } of found) {
        const writes = tools.find((tool) => tool.name === name)?.needs === "writes";
        expect([name, annotations["readOnlyHint"]]).toEqual([name, !writes]);
      }
      expect(JSON.stringify(found).length).toBeLessThan(24_000);
      const overview = tools.find((tool) => tool.name === "overview");
      expect<unknown>(found.find(({ name }) => name === "overview")).toEqual({
        name: "overview",
        title: overview?.title ?? "",
        description: overview?.description ?? "",
        outputSchema: expect.objectContaining({ type: "object" }),
        inputSchema: { type: "object", properties: {}, additionalProperties: false },
        annotations: {
          readOnlyHint: true,
          destructiveHint: false,
          idempotentHint: true,
          openWorldHint: false,
        },
      });
      return found.map(({ name }) => name);
    };
    const readers = tools.filter(({ needs }) => needs === null).map(({ name }) => name);
    expect(readers).toHaveLength(11);
    expect(await namesFor({})).toEqual(readers);
    expect(await namesFor({ allowed: ["bodies"] })).toEqual([...readers, "get_body"]);
    expect(await namesFor({ allowed: ["writes", "bodies"] })).toEqual(
      tools.map(({ name }) => name),
    );
    const reader = await agentAs(app, { token: await agentToken({}) });
    for (const name of ["start_replay", "get_body", "no_such_tool"]) {
      expect(await reader.toolText(name)).toEqual({
        text: `Tool ${name} not found`,
        isError: true,
      });
    }
  });

  test.each([
    [
      "search_events",
      { provier: "code_host" },
      /^validation-failed: \/provier: Unexpected property$/,
    ],
    ["search_events", { provider: "x".repeat(20_000) }, /^invalid-parameter: provider: /],
    ["search_events", { provider: "bookings" }, /not-found: Agents do not see/],
    ["search_events", { to: "now" }, /^invalid-parameter: to: /],
    ["search_events", { cursor: "abc" }, /invalid-cursor/],
    ["search_events", { limit: 1_000 }, /^validation-failed: \/limit: .* 100$/],
    ["get_event", { id: "evt_0" }, /not-found/],
    ["get_event", { id: { $ne: null } }, /^invalid-body: \/id: Expected string$/],
    ["get_destination", { destination: "../../v1" }, /invalid-parameter/],
    ["preview_replay", {}, /validation-failed/],
    ["get_replay", { id: "rpl_0" }, /^not-found: No replay/],
    ["get_replay", { cursor: "abc" }, /invalid-cursor/],
  ])("%s is an error that says why (%#)", async (name, given, text) => {
    const agent = await agentAs(app);
    const answer = await agent.toolText(name, given);
    expect(answer.isError).toBe(true);
    expect(answer.text).toMatch(text);
  });

  test("a body over 64 KiB is 413, and what is no JSON-RPC is an error", async () => {
    const token = await tokenOf("operator");
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    const post = (body: string, more: Record<string, string> = {}) =>
      app.fetch("/mcp", { method: "POST", headers: { ...headers, ...more }, body });
    expect((await post(JSON.stringify({ a: "x".repeat(70_000) }))).status).toBe(413);
    expect((await post("{}", { "content-encoding": "gzip" })).status).toBe(415);
    for (const body of ["", "{", "[]", "null", '{"jsonrpc":"2.0"}']) {
      expect([body, (await post(body)).status]).toEqual([body, 400]);
    }
    for (const method of ["GET", "DELETE", "PUT"]) {
      expect((await app.fetch("/mcp", { method, headers })).status).toBe(405);
    }
  });

  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  test.each([
    ["of 2 messages", JSON.stringify([ping, ping])],
    [
      "of 100 lists",
      JSON.stringify(Array.from({ length: 100 }, () => ({ ...ping, method: "tools/list" }))),
    ],
    ["of none", "[]"],
    ["of one notification", '[{"jsonrpc":"2.0","method":"notifications/initialized"}]'],
    ["after 200 spaces", `${" \r\n\t".repeat(50)}[${JSON.stringify(ping)}]`],
    ["after a byte order mark", `\uFEFF[${JSON.stringify(ping)}]`],
  ])("refuses a batch %s", async (_, body) => {
    const headers = rpcRequest({ token: await tokenOf("operator") }, "ping").headers;
    for (const name of ["mcp-protocol-version", "mcp-method"]) headers.delete(name);
    const answer = await app.fetch("/mcp", { method: "POST", headers, body });
    expect(answer.status).toBe(400);
    expect(await json(answer)).toEqual({
      jsonrpc: "2.0",
      id: null,
      error: {
        code: -32_600,
        message: "Batches are not supported. Send each message in a request of its own.",
      },
    });
  });

  test("each call is in the audit list with the name of the client", async () => {
    const agent = await agentAs(app, { client: `Ada's agent\n✓${"x".repeat(200)}` });
    await agent.toolText("get_event", { id: "evt_0\nclient: Ada" });
    // Other tests call tools in the same millisecond.
    const callOf = async (tool: string) => {
      const entries = await listed(app, "/v1/audit?action=agent.called&limit=100", "admin");
      const start = `tool: ${tool}\nclient: Ada's agent`;
      return entries.find(({ detail }) => String(detail).startsWith(start));
    };
    expect(await callOf("get_event")).toMatchObject({
      actor: "test-operator",
      action: "agent.called",
      subject: "test-operator",
      detail: `tool: get_event\nclient: Ada's agent${"x".repeat(89)}\nid: evt_0 client: Ada`,
    });
    // What a person typed can be about anybody.
    await agent.toolText("search_events", { q: "Lovelace", provider: "code_host" });
    const search = await callOf("search_events");
    expect(String(search?.["detail"])).toEndWith("\nprovider: code_host");
    expect(String(search?.["detail"])).not.toContain("Lovelace");
  });

  test("an agent that calls without end stops itself only", async () => {
    const busyToken = await agentToken({});
    const busy = await agentAs(app, { token: busyToken });
    const other = await agentAs(app, { token: await agentToken({}) });
    // Every message counts, whatever it asks for.
    const methods = [
      "tools/list",
      "ping",
      "resources/list",
      "prompts/list",
      "no/such",
      "tools/call",
    ];
    await Promise.all(
      Array.from({ length: 600 }, (_, n) => busy.call(methods[n % methods.length] ?? "")),
    );
    for (const method of methods) {
      const answer = await ask(rpcRequest({ token: busyToken }, method));
      await expectLimited(answer, '"calls";q=600;w=60', 60);
    }
    expect((await other.toolText("overview")).isError).toBe(false);
    // Its operator can change something.
    await agentToken({});
    app.clock.advance(60_000);
    expect((await busy.toolText("overview")).isError).toBe(false);
  });

  test("a revoked token is refused with the next call", async () => {
    const token = await agentToken({});
    const agent = agentOf(ask, { token });
    expect((await agent.toolText("overview")).isError).toBe(false);
    const [session] = await listed(app, "/v1/sessions", "operator");
    await app.as("operator", `/v1/sessions/${String(session?.["id"])}`, { method: "DELETE" });
    expect((await ask(rpcRequest({ token }, "tools/list"))).status).toBe(401);
    expect(
      (await app.fetch("/v1/events", { headers: { authorization: `Bearer ${token}` } })).status,
    ).toBe(401);
  });
});
