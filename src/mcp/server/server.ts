import {
  CLIENT_INFO_META_KEY,
  createMcpHandler,
  fromJsonSchema,
  type JsonSchemaValidatorResult,
  McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { type TSchema, Type } from "@sinclair/typebox";

import { AppError } from "../../base/errors.ts";
import { parseJson } from "../../base/json.ts";
import { lazy } from "../../base/lazy.ts";
import { asPayload } from "../../base/payload.ts";
import { bodyReader } from "../../base/validation.ts";
import { version } from "../../base/version.ts";
import { answerText, maxAnswerLength } from "../answer.ts";
import type { Agent, AgentServices, Tool } from "../tool.ts";
import { tools } from "../tools/tools.ts";
import { untrustedRule } from "../untrusted.ts";

import { addReading, requireNoCursor } from "./reading.ts";
import { recordCall } from "./record.ts";

const instructions = `Skyhook receives webhooks, stores them as events and notifies destinations. Begin with overview, then list_issues. Answers have at most ${maxAnswerLength} characters: pass nextCursor to go on; \`omitted\` counts what was left out of a long array. ${untrustedRule}`;

/** Answers a request of an agent. A server is made for each, so that nothing is kept between them. */
export function answerAgent(
  services: AgentServices,
  agent: Omit<Agent, "client">,
  request: Request,
): Promise<Response> {
  const userAgent = request.headers.get("user-agent") ?? "";
  // No streams: they would outlive a token that was revoked.
  const handler = createMcpHandler(() => serverFor(services, agent, userAgent), {
    maxSubscriptions: 0,
  });
  return handler.fetch(request);
}

/** Lists change with the program only, so there are no notifications. */
const listed = { listChanged: false };
const capabilities = { tools: listed, resources: listed, prompts: listed };

function serverFor(services: AgentServices, caller: Omit<Agent, "client">, userAgent: string) {
  const info = { name: "skyhook", title: "Skyhook", version };
  const server = new McpServer(info, { instructions, capabilities });
  const agentOf = (ctx: ServerContext): Agent => ({ ...caller, client: clientIn(ctx, userAgent) });
  const allowed = readyTools().filter(
    ({ tool: { needs } }) => needs === null || caller.allowed.includes(needs),
  );
  for (const { tool, inputSchema, read } of allowed) {
    // Without title and description, which only `tools/list` has.
    server.registerTool(tool.name, { inputSchema }, (given, ctx) =>
      resultOf(services, agentOf(ctx), tool, () => read(given)),
    );
  }
  // The library would convert each schema again for each list.
  server.server.setRequestHandler("tools/list", ({ params }) => {
    requireNoCursor(params);
    return { tools: allowed.map(({ listing }) => listing) };
  });
  addReading(server);
  return server;
}

/** What the client calls itself; before 2026-07-28, a request has no such field. */
function clientIn({ mcpReq }: ServerContext, userAgent: string): string {
  const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
  const { name }: { name?: unknown } = Object(envelope[CLIENT_INFO_META_KEY]);
  const client = typeof name === "string" ? name : userAgent;
  return client.replaceAll(/[^ -~]/g, "").slice(0, 100);
}

/**
 * The tools with their schemas and their entries in `tools/list`, created once. Unknown arguments are rejected: a misspelt
 * filter would find everything. `read` checks them, because its errors name the argument.
 */
const readyTools = lazy(() =>
  tools.map((tool) => {
    const strict = Type.Object(tool.input.properties, { additionalProperties: false });
    const schema = plain(strict);
    // Guarantee: `T` is `unknown` below.
    const getValidator =
      <T>() =>
      (data: unknown): JsonSchemaValidatorResult<T> => ({
        valid: true,
        data: data as T,
        errorMessage: undefined,
      });
    const inputSchema = fromJsonSchema<unknown>(schema, { getValidator });
    const { name, title, description, needs, isDestructive = false, isIdempotent = false } = tool;
    const isRead = needs !== "writes";
    const annotations = {
      readOnlyHint: isRead,
      destructiveHint: isDestructive,
      idempotentHint: isRead || isIdempotent,
      openWorldHint: false,
    };
    const listing = {
      name,
      title,
      description,
      inputSchema: { type: "object" as const, ...schema },
      outputSchema: { type: "object" as const, ...plain(tool.output) },
      annotations,
    };
    return { tool, inputSchema, listing, read: bodyReader(strict, "validation-failed") };
  }),
);

/** Without the symbols of the library that defines schemas. */
const plain = (schema: TSchema): object => JSON.parse(JSON.stringify(schema));

async function resultOf(
  services: AgentServices,
  agent: Agent,
  tool: Tool,
  read: () => Readonly<Record<string, unknown>>,
) {
  const text = (content: string) => ({ content: [{ type: "text" as const, text: content }] });
  try {
    const given = read();
    await recordCall(services, agent, tool, given);
    const answer = answerText(await tool.run(services, agent, given));
    return { ...text(answer), structuredContent: asPayload(parseJson(answer)) ?? {} };
  } catch (error) {
    if (error instanceof AppError && error.code !== "internal") {
      return { ...text(`${error.code}: ${error.detail}`), isError: true };
    }
    services.log.error({ err: error, tool: tool.name, requestId: agent.requestId }, "tool failed");
    return { ...text("internal: An internal error occurred. Try again later."), isError: true };
  }
}
