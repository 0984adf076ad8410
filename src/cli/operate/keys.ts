import { type Command, Option } from "commander";

import { type Role, roles } from "../../base/context.ts";
import { textAt } from "../../base/payload.ts";
import { programName } from "../../base/program-name.ts";
import { sessionFilters } from "../../identity/sessions/session-filters.ts";
import { defaultKeyDays, maxKeyDays } from "../../identity/sessions/token.schema.ts";
import { argument, example, wholeNumber } from "../kit/arguments.ts";
import { note } from "../kit/output.ts";
import { declareResource } from "../kit/resource.ts";
import { calling, serverOption, type ServerOptions } from "../kit/server-api.ts";

const path = "/v1/keys";

/** `skyhook keys`. */
export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  const keys = program.command("keys");
  declareResource(keys, env, {
    name: "keys",
    description: "list, make and revoke API keys of programs",
    role: "admin",
    filters: { actor: sessionFilters.actor },
    columns: {
      id: "id",
      name: "name",
      roles: "roles",
      "created by": "actor",
      created: "createdAt",
      "last used": "lastUsedAt",
      expires: "expiresAt",
    },
    examples: ["skyhook keys", "skyhook keys --json"],
    sample: "ses_019377b07d4070008000000000000001",
    operations: {
      revoke: { description: "end a key at once", done: "revoked", isRemoval: true },
    },
  });
  const days = argument(wholeNumber(maxKeyDays));
  keys
    .command("create")
    .description("print a new API key, once (through the running server)")
    .argument("<name>", "its name in lists, such as the program's")
    .addOption(new Option("--role <role>", "what it may do").choices(roles).default("user"))
    .option("--days <number>", "how long it is valid", days, defaultKeyDays)
    .addOption(serverOption())
    .addHelpText("after", example('skyhook keys create "Nightly export" --role operator'))
    .action((name: string, options: CreateOptions) => create(name, options, env));
}

interface CreateOptions extends ServerOptions {
  readonly role: Role;
  readonly days: number;
}

async function create(name: string, options: CreateOptions, env: NodeJS.ProcessEnv): Promise<void> {
  const { role, days } = options;
  const caller = role === "admin" ? "admin" : "operator";
  const made = await calling(options, env, { path, role: caller })("POST", "", {
    name,
    role,
    days,
  });
  note(`valid until ${textAt(made, "expiresAt")}, and not shown again`);
  note("send it as the header Authorization: Bearer …");
  note(`to revoke it: ${programName} keys revoke ${textAt(made, "id")}`);
  console.log(textAt(made, "key"));
}
