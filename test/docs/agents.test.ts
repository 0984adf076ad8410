import { beforeAll, expect, test } from "bun:test";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { itemsAt, objectAt, textAt } from "../../src/base/payload.ts";
import { besideServer } from "../support/cli.ts";
import { programWith } from "../support/program.ts";

import { page } from "./markdown.ts";

// The set-ups of docs/agents.md, as a reader would copy them.

const text = page("docs/agents.md");
const blocks = Array.from(text.matchAll(/^```json\n(.*?)^```$/gms), ([, json = ""]): unknown =>
  JSON.parse(json),
);
const [vsCode, desktop] = blocks;
const { beside, running } = besideServer();
let token: string;
beforeAll(async () => {
  token = (await beside("mcp", "token", "docs")).out.trim();
});

const own = (value: unknown) => String(value).replace("http://localhost:3111", running().url);

function http(address: unknown, authorization: unknown) {
  const value = String(authorization).replace(/\$(?:SKYHOOK_MCP_TOKEN|\{input:skyhook\})/, token);
  const requestInit = { headers: { authorization: value } };
  return new StreamableHTTPClientTransport(new URL(own(address)), { requestInit });
}

const setUps = {
  "Claude Code": () => {
    const [, url, header] =
      /add --transport http skyhook (\S+) .*"Authorization: (.+)"/.exec(text) ?? [];
    return http(url, header);
  },
  "VS Code": () => {
    const { url, headers } = objectAt(vsCode, "servers", "skyhook");
    return http(url, textAt(headers, "Authorization"));
  },
  "Claude Desktop": () => {
    const { command, env } = objectAt(desktop, "mcpServers", "skyhook");
    expect([command, Object.keys(Object(env))]).toEqual(["skyhook", ["SKYHOOK_MCP_TOKEN"]]);
    const [program = "", ...words] = programWith();
    const args = [...words, ...itemsAt(desktop, "mcpServers", "skyhook", "args").map(own)];
    const given = { SKYHOOK_MCP_TOKEN: token };
    return new StdioClientTransport({ command: program, args, env: given });
  },
};

test.each(Object.entries(setUps))("%s connects as the page says", async (_, transport) => {
  const client = new Client({ name: "docs", version: "1.0.0" });
  await client.connect(transport());
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("overview");
  await client.close();
});
