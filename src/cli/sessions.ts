import type { Command } from "commander";

import { readConfig } from "../config/config.ts";
import { isObject, itemsAt, textAt } from "../gateway/providers/payload.ts";

import { argument, example } from "./arguments.ts";
import { painter, table } from "./output.ts";
import { isItRunning, localUrl, parseBaseUrl, request } from "./request.ts";
import { serverError, serverTokens } from "./server-tokens.ts";

interface ServerOptions {
  readonly url?: string;
}

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  const sessions = program
    .command("sessions")
    .description("list and end sign-ins to the console (through the running server)");
  const urlHelp = "the server; default: this machine, at PORT";
  sessions
    .command("list", { isDefault: true })
    .description("list the newest 100 sessions")
    .option("--url <url>", urlHelp, argument(parseBaseUrl))
    .addHelpText("after", example("skyhook sessions"))
    .action((options: ServerOptions) => list(options, env));
  sessions
    .command("revoke")
    .description("end a session at once")
    .argument("<id>", "from `skyhook sessions`, such as ses_019377b0…")
    .option("--url <url>", urlHelp, argument(parseBaseUrl))
    .addHelpText("after", example("skyhook sessions revoke ses_019377b07d4070008000000000000001"))
    .action((id: string, options: ServerOptions) => revoke(id, options, env));
}

/** `skyhook sessions`. */
async function list(options: ServerOptions, env: NodeJS.ProcessEnv): Promise<void> {
  const { json } = await call("GET", "?limit=100", options, env);
  const found = itemsAt(json ?? {}, "data").filter(isObject);
  if (found.length === 0) return console.log("No sessions");
  const head = ["id", "actor", "roles", "address", "createdAt", "expiresAt"];
  const rows = found.map((session) =>
    head.map((field) =>
      field === "roles"
        ? itemsAt(session, "roles").map(String).join(", ")
        : (textAt(session, field) ?? "-"),
    ),
  );
  console.log(table([head, ...rows]));
}

/** `skyhook sessions revoke`. */
async function revoke(id: string, options: ServerOptions, env: NodeJS.ProcessEnv): Promise<void> {
  await call("DELETE", `/${encodeURIComponent(id)}`, options, env);
  console.log(`${painter(env)("green", "ended")} ${id}`);
}

async function call(method: string, path: string, options: ServerOptions, env: NodeJS.ProcessEnv) {
  const config = readConfig(env);
  const mint = serverTokens(config, env, "admin");
  const headers = { authorization: `Bearer ${await mint()}` };
  const address = `${options.url ?? localUrl(config)}/v1/sessions${path}`;
  const answer = await request(address, { method, headers }, isItRunning);
  if (answer.ok) return answer;
  throw new Error(serverError(answer, "admin"));
}
