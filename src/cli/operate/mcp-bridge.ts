import { createParser } from "eventsource-parser";

import { isObject, type JsonObject, textAt } from "../../base/payload.ts";
import type { Line } from "../../booking/flights/import/lines.ts";
import { messageOf } from "../kit/errors.ts";
import { note } from "../kit/output.ts";
import { type Answer, isItRunning, jsonObject, problemOf, request } from "../kit/request.ts";

/** Sends messages of JSON-RPC to the `/mcp` of a server, and returns the lines that it answers. It never throws. */
export function bridge(
  url: string,
  token: () => Promise<string>,
): (line: Line) => Promise<readonly string[]> {
  // Before 2026-07-28, clients say these once.
  let version: string | null = null;
  let client = "skyhook mcp";

  async function send(message: JsonObject, body: string): Promise<Answer> {
    const name = textAt(message, "params", "clientInfo", "name");
    if (name !== null) client = name.replaceAll(/[^ -~]/g, "");
    const headers = {
      authorization: `Bearer ${await token()}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "user-agent": client,
      ...mirrored(message, version),
    };
    return request(url, { method: "POST", headers, body }, isItRunning);
  }

  return async (line) => {
    const text = "text" in line ? line.text : "";
    const message = jsonObject(text);
    if (message === null) {
      const reason = "error" in line ? line.error : "The line is not a message of JSON-RPC";
      return [errorLine(null, parseError, reason)];
    }
    const { id = null } = message;
    try {
      const lines = linesIn(await send(message, text), id);
      const answer = jsonObject(lines.at(-1) ?? "");
      version = textAt(answer, "result", "protocolVersion") ?? version;
      return lines;
    } catch (error) {
      note(`skyhook: ${messageOf(error)}`);
      // Nobody waits for an answer to a notification.
      return id === null ? [] : [errorLine(id, serverError, messageOf(error))];
    }
  };
}

const [parseError, serverError] = [-32_700, -32_000] as const;

function errorLine(id: unknown, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } });
}

/** What HTTP headers repeat of a message since 2026-07-28, so that proxies need not read it. */
function mirrored(message: JsonObject, negotiated: string | null): Record<string, string> {
  const { method, params } = message;
  const { name, uri } = isObject(params) ? params : {};
  const version = textAt(params, "_meta", "io.modelcontextprotocol/protocolVersion") ?? negotiated;
  const all = { "mcp-protocol-version": version, "mcp-method": method, "mcp-name": name ?? uri };
  const texts = Object.entries(all).filter(([, text]) => typeof text === "string");
  return Object.fromEntries(texts.map(([header, text]) => [header, headerValue(String(text))]));
}

/** Encodes a text that a header cannot hold, as the protocol says. */
function headerValue(text: string): string {
  const isPlain = /^[!-~](?:[ -~]*[!-~])?$/.test(text) && !text.startsWith("=?base64?");
  return isPlain ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}

/** The messages of an answer, which is JSON or, for older clients, a stream of events. Throws if it has none. */
function linesIn(answer: Answer, id: unknown): readonly string[] {
  const { status, text, json } = answer;
  if (status === 202) return [];
  if (json?.["jsonrpc"] === "2.0") return [JSON.stringify({ ...json, id: json["id"] ?? id })];
  const lines: string[] = [];
  // JSON has line breaks only between its parts.
  createParser({ onEvent: ({ data }) => void lines.push(data.replaceAll("\n", " ")) }).feed(text);
  if (answer.ok && lines.length > 0) return lines;
  const hint = status === 401 ? ". Restart this, or set SKYHOOK_MCP_TOKEN to a valid token" : "";
  throw new Error(`The server answers ${status} ${problemOf(answer).replace(/\.$/, "")}${hint}`);
}
