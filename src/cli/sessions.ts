import type { Command } from "commander";

import { isObject, itemsAt } from "../base/payload.ts";

import { example } from "./arguments.ts";
import { jsonOption, type ListOptions, printList } from "./lists.ts";
import { note, painter } from "./output.ts";
import { type Call, calling, serverOption, type ServerOptions } from "./server-api.ts";

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  const sessions = program
    .command("sessions")
    .description(
      "list and end sign-ins to the console and tokens of agents (through the running server)",
    );
  sessions
    .command("list", { isDefault: true })
    .description("list the newest 100 sessions")
    .addOption(jsonOption())
    .addOption(serverOption())
    .addHelpText("after", example("skyhook sessions"))
    .action((options: ServerOptions & ListOptions) => list(options, env));
  sessions
    .command("revoke")
    .description("end a session at once")
    .argument("<id>", "from `skyhook sessions`, such as ses_019377b0…")
    .addOption(serverOption())
    .addHelpText("after", example("skyhook sessions revoke ses_019377b07d4070008000000000000001"))
    .action((id: string, options: ServerOptions) => revoke(id, options, env));
}

const columns = {
  id: "id",
  kind: "kind",
  actor: "actor",
  roles: "roles",
  address: "address",
  created: "createdAt",
  expires: "expiresAt",
  name: "userAgent",
};

/** `skyhook sessions`. */
async function list(options: ServerOptions & ListOptions, env: NodeJS.ProcessEnv): Promise<void> {
  const page = await calls(options, env)("GET", "?limit=100");
  const found = itemsAt(page, "data").filter(isObject);
  if (found.length === 0) return note("No sessions");
  printList(found, columns, options);
}

/** `skyhook sessions revoke`. */
async function revoke(id: string, options: ServerOptions, env: NodeJS.ProcessEnv): Promise<void> {
  await calls(options, env)("DELETE", `/${encodeURIComponent(id)}`);
  console.log(`${painter(env)("green", "ended")} ${id}`);
}

function calls(options: ServerOptions, env: NodeJS.ProcessEnv): Call {
  return calling(options, env, { path: "/v1/sessions", role: "admin" });
}
