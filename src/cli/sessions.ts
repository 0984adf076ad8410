import type { Command } from "commander";

import { isObject, itemsAt, textAt } from "../base/payload.ts";

import { example } from "./arguments.ts";
import { painter, table } from "./output.ts";
import { type Call, calling, serverOption, type ServerOptions } from "./server-api.ts";

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  const sessions = program
    .command("sessions")
    .description("list and end sign-ins to the console (through the running server)");
  sessions
    .command("list", { isDefault: true })
    .description("list the newest 100 sessions")
    .addOption(serverOption())
    .addHelpText("after", example("skyhook sessions"))
    .action((options: ServerOptions) => list(options, env));
  sessions
    .command("revoke")
    .description("end a session at once")
    .argument("<id>", "from `skyhook sessions`, such as ses_019377b0…")
    .addOption(serverOption())
    .addHelpText("after", example("skyhook sessions revoke ses_019377b07d4070008000000000000001"))
    .action((id: string, options: ServerOptions) => revoke(id, options, env));
}

/** `skyhook sessions`. */
async function list(options: ServerOptions, env: NodeJS.ProcessEnv): Promise<void> {
  const page = await calls(options, env)("GET", "?limit=100");
  const found = itemsAt(page, "data").filter(isObject);
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
  await calls(options, env)("DELETE", `/${encodeURIComponent(id)}`);
  console.log(`${painter(env)("green", "ended")} ${id}`);
}

function calls(options: ServerOptions, env: NodeJS.ProcessEnv): Call {
  return calling(options, env, { path: "/v1/sessions", role: "admin" });
}
