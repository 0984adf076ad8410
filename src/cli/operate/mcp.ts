import type { Command } from "commander";

import { systemClock } from "../../base/clock.ts";
import { isoTimeAt, type JsonObject, textAt } from "../../base/payload.ts";
import { programName } from "../../base/program-name.ts";
import { readLines } from "../../booking/flights/import/lines.ts";
import { readConfig } from "../../config/config.ts";
import { mcpPath } from "../../identity/sessions/agent-sign-in.ts";
import { maxAgentTokenDays } from "../../identity/sessions/token.schema.ts";
import { argument, example, wholeNumber } from "../kit/arguments.ts";
import { messageOf } from "../kit/errors.ts";
import { note, printLine, UsageError } from "../kit/output.ts";
import { operatorName } from "../kit/program.ts";
import { localUrl } from "../kit/request.ts";
import { type Call, calling, serverOption, type ServerOptions } from "../kit/server-api.ts";

import { bridge } from "./mcp-bridge.ts";

interface McpOptions extends ServerOptions {
  readonly allowWrites?: true;
  readonly allowBodies?: true;
}

type TokenOptions = McpOptions & { readonly days: number };

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  const mcp = program
    .command("mcp")
    .description("connect an agent that speaks MCP on standard input and output to a server");
  withOptions(mcp.enablePositionalOptions())
    .addHelpText("after", example("skyhook mcp", "skyhook --demo mcp --allow-writes"))
    .action((options: McpOptions) => connect(options, env));
  const token = mcp
    .command("token")
    .description("print a token with which an agent connects to /mcp (through the running server)")
    .argument("<name>", "its name in lists, such as the agent's")
    .option("--days <number>", "how long it is valid", argument(wholeNumber(maxAgentTokenDays)), 7);
  withOptions(token)
    .addHelpText("after", example('skyhook mcp token "Claude Code" --days 30'))
    .action((name: string, options: TokenOptions) => printToken(name, options, env));
}

function withOptions(command: Command): Command {
  return command
    .option("--allow-writes", "let it replay and retry events, send tests and mute issues")
    .option("--allow-bodies", "let it read the bodies of webhooks")
    .addOption(serverOption());
}

/** `skyhook mcp token`. */
async function printToken(name: string, options: TokenOptions, env: NodeJS.ProcessEnv) {
  const url = options.server ?? localUrl(readConfig(env));
  const input = { name, days: options.days, allowed: allowedBy(options) };
  const made = await sessionCalls(options, env)("POST", "", input);
  note(`valid until ${textAt(made, "expiresAt")} at ${url}${mcpPath}, and not shown again`);
  note("send it as the header Authorization: Bearer …, or set it as SKYHOOK_MCP_TOKEN");
  note(`to revoke it: ${programName} sessions revoke ${textAt(made, "id")}`);
  console.log(textAt(made, "token"));
}

const sessionCalls = (options: McpOptions, env: NodeJS.ProcessEnv): Call =>
  calling(options, env, { path: "/v1/sessions", role: "operator" });

function allowedBy({ allowWrites, allowBodies }: McpOptions): readonly string[] {
  return [...(allowWrites ? ["writes"] : []), ...(allowBodies ? ["bodies"] : [])];
}

/** Longer than the server accepts, so that its answer has the id of the message. */
const maxLineBytes = 1024 * 1024;
/** Messages that wait for an answer. Further ones are not read. */
const maxWaiting = 8;

/** `skyhook mcp`: sends each line of standard input to `/mcp`, and prints the answers, until the input ends. */
async function connect(options: McpOptions, env: NodeJS.ProcessEnv): Promise<void> {
  const url = `${options.server ?? localUrl(readConfig(env))}${mcpPath}`;
  const { token, end } = tokenOf(options, env);
  const answersTo = bridge(url, token);
  const stopped = new AbortController();
  const stop = () => stopped.abort();
  process.once("SIGINT", stop).once("SIGTERM", stop);
  // Without a reader, the token must still be revoked.
  process.stdout.removeAllListeners("error").on("error", stop);
  const waiting = new Set<Promise<unknown>>();
  try {
    const input = Bun.stdin.stream().pipeThrough(new TransformStream(), stopped);
    for await (const line of readLines(input, maxLineBytes)) {
      const task = answersTo(line).then((lines) => Promise.all(lines.map(printLine)));
      waiting.add(task);
      void task.finally(() => waiting.delete(task));
      // oxlint-disable-next-line no-restricted-properties -- A request has a time-out, so none waits for long.
      if (waiting.size >= maxWaiting) await Promise.race(waiting);
    }
    await Promise.all(waiting);
  } catch (error) {
    if (!stopped.signal.aborted) throw error;
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
    await end();
  }
}

/** SKYHOOK_MCP_TOKEN; otherwise a token that is made when it is needed, and revoked by `end`. */
function tokenOf(options: McpOptions, env: NodeJS.ProcessEnv) {
  const given = (env["SKYHOOK_MCP_TOKEN"] ?? "").trim();
  const allowed = allowedBy(options);
  if (given !== "") {
    // `fetch` would quote a token with other characters in its error.
    if (!/^[!-~]+$/.test(given))
      throw new UsageError("SKYHOOK_MCP_TOKEN contains invalid characters. Copy the token again");
    if (allowed.length === 0) return { token: async () => given, end: async () => {} };
    throw new UsageError(
      "SKYHOOK_MCP_TOKEN is set: --allow-writes and --allow-bodies cannot change a token. Make another one",
    );
  }
  const call = sessionCalls(options, env);
  const input = { name: `skyhook mcp (${operatorName(env)})`, days: 1, allowed };
  let making: Promise<JsonObject> | null = null;
  let expiresAtMs = Number.POSITIVE_INFINITY;
  return {
    async token(): Promise<string> {
      // By time, not after a 401: a token that was revoked must not come back.
      if (expiresAtMs <= systemClock.now()) making = null;
      expiresAtMs = Number.POSITIVE_INFINITY;
      making ??= call("POST", "", input);
      const session = await making.catch((error: unknown) => {
        making = null;
        throw error;
      });
      expiresAtMs = isoTimeAt(session, "expiresAt")?.getTime() ?? expiresAtMs;
      return textAt(session, "token") ?? "";
    },
    async end(): Promise<void> {
      try {
        if (making !== null) await call("DELETE", `/${textAt(await making, "id")}`);
      } catch (error) {
        note(`the token of this run was not revoked: ${messageOf(error)}`);
      }
    },
  };
}
