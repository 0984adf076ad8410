import type { ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";

import type { TestApp } from "./app.ts";

/** The protocol that clients of 2026-07-28 speak. */
const version = "2026-07-28";

type Fetch = (request: Request) => Promise<Response> | Response;

const meta = (client: string) => ({
  "io.modelcontextprotocol/protocolVersion": version,
  "io.modelcontextprotocol/clientInfo": { name: client, version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
});

export interface Rpc {
  readonly token: string;
  readonly client?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request of JSON-RPC, as a client of 2026-07-28 sends it. */
export function rpcRequest(
  { token, client = "test-client", url = "http://localhost/mcp", headers = {} }: Rpc,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
): Request {
  const name = params["name"] ?? params["uri"];
  const isNamed = /^(?:tools\/call|prompts\/get|resources\/read)$/.test(method);
  return new Request(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": version,
      "mcp-method": method,
      ...(isNamed && { "mcp-name": String(name) }),
      ...headers,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method,
      params: { ...params, _meta: meta(client) },
    }),
  });
}

interface RpcAnswer {
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

const ajv = new Ajv2020({ strict: true });
const checks = new Map<string, ValidateFunction>();

/** Requires that an answer has the shape that its tool declares, and no member besides. */
async function checkAnswer(
  call: (method: string) => Promise<RpcAnswer>,
  name: string,
  {
    content,
    structuredContent,
  }: { readonly content?: unknown; readonly structuredContent?: unknown },
): Promise<void> {
  let check = checks.get(name);
  if (check === undefined) {
    const listed: readonly { name: string; outputSchema: object }[] = Object(
      (await call("tools/list")).result,
    )["tools"];
    const schema = JSON.stringify(listed.find((tool) => tool.name === name)?.outputSchema);
    const strict = schema.replaceAll('"properties":', '"additionalProperties":false,"properties":');
    check = ajv.compile(JSON.parse(strict));
    checks.set(name, check);
  }
  if (!check(structuredContent)) throw new Error(`${name}: ${ajv.errorsText(check.errors)}`);
  const text: unknown = Object(content)[0]?.text;
  if (text !== JSON.stringify(structuredContent)) throw new Error(`${name}: two different answers`);
}

/** An agent that calls `fetch`. */
export function agentOf(fetch: Fetch, rpc: Rpc) {
  const call = async (method: string, params: Readonly<Record<string, unknown>> = {}) =>
    (await (await fetch(rpcRequest(rpc, method, params))).json()) as RpcAnswer;
  /** The text of a tool's answer, and whether it is an error. */
  const toolText = async (name: string, given: Readonly<Record<string, unknown>> = {}) => {
    const { result, error } = await call("tools/call", { name, arguments: given });
    if (error !== undefined) return { text: error.message, isError: true };
    if (Object(result)["isError"] !== true) await checkAnswer(call, name, Object(result));
    const [first]: readonly { text?: string }[] = Object(result)["content"] ?? [];
    return { text: first?.text ?? "", isError: Object(result)["isError"] === true };
  };
  return {
    call,
    toolText,
    /** The answer of a tool that succeeds. */
    async tool(name: string, given: Readonly<Record<string, unknown>> = {}) {
      const { text, isError } = await toolText(name, given);
      if (isError) throw new Error(text);
      const answer: Readonly<Record<string, unknown>> = JSON.parse(text);
      return answer;
    },
  };
}

/** The agent of a token that an operator has for the API, on an app of this process. */
export async function agentAs(app: TestApp, rpc: Partial<Rpc> = {}) {
  const operator = { id: "test-operator", roles: ["operator"] } as const;
  const token = rpc.token ?? (await app.services.tokens.mint(operator, 3_600));
  return agentOf((request) => app.app.handle(request), { ...rpc, token });
}

/** The places of a text in an answer, such as `items.0.untrusted.title`. */
export function pathsTo(text: string, answer: unknown, path: readonly string[] = []): string[] {
  if (typeof answer === "string") return answer.includes(text) ? [path.join(".")] : [];
  if (typeof answer !== "object" || answer === null) return [];
  return Object.entries(answer).flatMap(([name, value]) => [
    ...(name.includes(text) ? [[...path, name].join(".")] : []),
    ...pathsTo(text, value, [...path, name]),
  ]);
}
