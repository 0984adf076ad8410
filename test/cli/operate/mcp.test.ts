// It takes some seconds: agents start the command, so four tests do too, beside a server of its own.
import { describe, expect, test } from "bun:test";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { until } from "../../support/app.ts";
import { besideServer } from "../../support/cli.ts";
import { rpcRequest } from "../../support/mcp.ts";
import { programWith } from "../../support/program.ts";

const { skyhook, running, beside: run } = besideServer();

/** Runs a command with the server's settings and others. */
const runWith = (env: Readonly<Record<string, string>>, args: readonly string[], input = "") =>
  skyhook(args, { cwd: running().cwd, env: { ...running().env, ...env }, input });

const tokenOf = async (role: string) =>
  (await run("token", "--email", "a@example.com", "--role", role)).out.trim();

/** Tokens of runs have ended with them. */
const noSessions = () => until(async () => (await run("sessions")).err === "No sessions found.\n");

/** The answers to lines on standard input, each with the id of its message, and what else was printed. */
async function piped(lines: readonly unknown[], env: Readonly<Record<string, string>> = {}) {
  const input = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
  const { out, err, code } = await runWith(env, ["mcp"], input.join("\n"));
  const answers = out.trimEnd().split("\n").filter(Boolean);
  return { answers: answers.map((line): unknown => JSON.parse(line)), err, code };
}

const message = (id: unknown, method: string, params = {}) => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});
const ping = message("p", "ping");

describe("skyhook mcp", () => {
  /** Starts the program as an agent does. */
  async function client(mode: "auto" | "legacy", ...options: string[]) {
    const [command = "", ...words] = programWith();
    const args = [...words, "mcp", ...options];
    const env = { HOST: "127.0.0.1", ...running().env };
    const made = new Client({ name: "tester", version: "1.0.0" }, { versionNegotiation: { mode } });
    await made.connect(
      new StdioClientTransport({ command, args, cwd: running().cwd, env, stderr: "ignore" }),
    );
    return made;
  }

  const gated = ["get_body", "start_replay"];
  test.each([
    ["legacy", [], []],
    ["auto", ["--allow-writes", "--allow-bodies"], gated],
  ] as const)("serves the official client (%s, %p)", async (mode, options, allowed) => {
    const agent = await client(mode, ...options);
    const names = (await agent.listTools()).tools.map(({ name }) => name);
    expect(gated.filter((name) => names.includes(name))).toEqual([...allowed]);
    const { content } = await agent.callTool({ name: "overview", arguments: {} });
    expect(content).toMatchObject([{ type: "text", text: expect.stringContaining('"now"') }]);
    const { contents } = await agent.readResource({ uri: "skyhook://docs/events.md" });
    expect(contents).toMatchObject([{ text: expect.stringMatching(/^# /) }]);
    expect(await agent.callTool({ name: " nö" }).catch(String)).toEndWith("not found");
    await agent.close();
    await noSessions();
    const headers = { authorization: `Bearer ${await tokenOf("admin")}` };
    const audit = await fetch(`${running().url}/v1/audit?action=agent.called`, { headers });
    expect(await audit.text()).toContain("client: tester");
  });

  const long = "x".repeat(70_000);
  test.each<[string, unknown, unknown]>([
    ["a request", ping, { id: "p", result: {} }],
    ["a text that is no JSON", "nonsense", { id: null, error: { code: -32_700 } }],
    ["a text as JSON", '"text"', { id: null, error: { code: -32_700 } }],
    ["bytes beyond the limit of a line", long.repeat(16), { id: null, error: { code: -32_700 } }],
    [
      "a message beyond the limit of the server",
      message(7, "tools/call", { name: "overview", arguments: { long } }),
      { id: 7, error: { message: expect.stringContaining("65536 bytes") } },
    ],
    ["an unknown method", message(8, "a\nb"), { id: 8, error: { code: -32_601 } }],
    [
      "a version that the server does not know",
      message(9, "ping", { _meta: { "io.modelcontextprotocol/protocolVersion": "ü" } }),
      { id: 9, error: {} },
    ],
  ])("answers %s", async (_, line, expected) => {
    const { answers, code } = await piped([line]);
    expect([answers, code]).toMatchObject([[expected], 0]);
  });

  test("prints nothing for notifications and blank lines, and goes on", async () => {
    const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
    const { answers, err } = await piped([initialized, "", "nonsense", ping]);
    expect([answers.length, err]).toEqual([2, ""]);
  });

  test.each<[string, Readonly<Record<string, string>>, string]>([
    ["no server", { PORT: "1" }, "is `"],
    ["a token that is not valid", { SKYHOOK_MCP_TOKEN: "skyhook_mcp_x" }, "401 invalid-token"],
    ["the token of a user", { SKYHOOK_MCP_TOKEN: "user" }, "403 insufficient-scope"],
  ])("answers with an error: %s", async (_, given, text) => {
    const isUser = given["SKYHOOK_MCP_TOKEN"] === "user";
    const env = isUser ? { SKYHOOK_MCP_TOKEN: await tokenOf("user") } : given;
    const { answers, err, code } = await piped([ping, { jsonrpc: "2.0", method: "x" }], env);
    const error = { code: -32_000, message: expect.stringContaining(text) };
    expect([answers, code]).toEqual([[{ jsonrpc: "2.0", id: "p", error }], 0]);
    expect(err.split(text)).toHaveLength(3);
  });

  test("sends at most 8 messages at a time, and refuses what is not MCP", async () => {
    const full = Promise.withResolvers<void>();
    let open = 0;
    let most = 0;
    using other = Bun.serve({
      port: 0,
      async fetch() {
        open += 1;
        most = Math.max(most, open);
        if (open === 8) full.resolve();
        await full.promise;
        await Bun.sleep(20);
        open -= 1;
        return new Response("<h1>Welcome</h1>");
      },
    });
    const lines = Array.from({ length: 30 }, (_, id) => message(id, "ping"));
    const env = { PORT: String(other.port), SKYHOOK_MCP_TOKEN: "x" };
    const { answers } = await piped(lines, env);
    expect(answers).toHaveLength(30);
    expect(answers[0]).toMatchObject({ error: { message: expect.stringContaining("Welcome") } });
    expect(most).toBe(8);
  });

  test.each([
    [["mcp"], "two words", "invalid characters"],
    [["mcp", "--allow-writes"], "x", "SKYHOOK_MCP_TOKEN is set"],
    [["mcp", "serve"], "x", "Too many arguments"],
  ])("rejects %p with the token %p", async (args, SKYHOOK_MCP_TOKEN, text) => {
    const { err, code } = await runWith({ SKYHOOK_MCP_TOKEN }, args);
    expect([err, code]).toEqual([expect.stringContaining(text), 2]);
  });

  test.each(["SIGINT", "SIGTERM"] as const)("revokes its token on %s", async (signal) => {
    const child = Bun.spawn([...programWith(), "mcp"], {
      cwd: running().cwd,
      env: { PATH: process.env["PATH"], HOST: "127.0.0.1", ...running().env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    void child.stdin.write(`${JSON.stringify(ping)}\n`);
    await child.stdin.flush();
    // It has a token once it answers.
    await child.stdout.getReader().read();
    expect((await run("sessions")).out).toContain("skyhook mcp (");
    child.kill(signal);
    expect(await child.exited).toBe(0);
    expect((await run("sessions")).err).toBe("No sessions found.\n");
  });
});

describe("skyhook mcp token", () => {
  const callWith = (token: string) =>
    fetch(rpcRequest({ token, url: `${running().url}/mcp` }, "tools/list"));

  test("prints a token that is accepted until it is revoked", async () => {
    const { out, err, code } = await run("mcp", "token", "CI", "--days", "2", "--allow-bodies");
    expect([code, out]).toEqual([0, expect.stringMatching(/^skyhook_mcp_[\w-]{43}\n$/)]);
    const answer = await callWith(out.trim());
    expect(await answer.text()).toContain('"get_body"');
    expect((await run("sessions")).out).toContain("  CI");
    const [, id = ""] = /sessions revoke (ses_\w+)/.exec(err) ?? [];
    expect((await run("sessions", "revoke", id)).code).toBe(0);
    expect((await callWith(out.trim())).status).toBe(401);
  });

  test.each([
    [["CI", "--days", "31"], 2, "from 1 to 30"],
    [[""], 1, "1 to 100 characters"],
  ])("rejects %p", async (args, expected, text) => {
    const { err, code } = await run("mcp", "token", ...args);
    expect([code, err]).toEqual([expected, expect.stringContaining(text)]);
  });
});
