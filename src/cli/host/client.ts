import { type Command, Option } from "commander";

import { systemClock } from "../../base/clock.ts";
import { type Role, roles } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import { isId, makeId } from "../../base/ids.ts";
import { programName } from "../../base/program-name.ts";
import { readConfig } from "../../config/config.ts";
import { tokenKey } from "../../config/secrets.ts";
import { write } from "../../db/statement.ts";
import { allClients, deleteClient } from "../../identity/auth/clients.sql.ts";
import { clients } from "../../identity/auth/clients.ts";
import { tokens } from "../../identity/auth/token.ts";
import { argument, example, parseLine } from "../kit/arguments.ts";
import { useDatabase } from "../kit/database.ts";
import { jsonOption, type ListOptions, printList } from "../kit/lists.ts";
import { note } from "../kit/output.ts";
import { withRevocations } from "../kit/services.ts";

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  const client = program
    .command("client")
    .description("manage OAuth 2.0 clients, which request their own tokens");
  client
    .command("add")
    .description("create a client; prints its id and, once, its secret")
    .requiredOption("--name <name>", "what the client is for", argument(parseLine))
    .addOption(new Option("--role <role>", "role of its tokens").choices(roles).default("user"))
    .addHelpText("after", example("skyhook client add --name ci --role operator"))
    .action((options: { name: string; role: Role }) => addClient(options, env));
  client
    .command("list")
    .description("list all clients")
    .addOption(jsonOption())
    .addHelpText("after", example("skyhook client list"))
    .action((options: ListOptions) => listClients(options, env));
  client
    .command("remove")
    .description("remove a client; servers refuse its tokens within 5 seconds")
    .argument("<client id>")
    .addHelpText("after", example("skyhook client remove cli_019a9f0c5d7b7c3a8e21d4f60b7a9c55"))
    .action((id: string) => removeClient(id, env));
}

/** `skyhook client add`: creates a client for the client-credentials grant and prints its secret once. */
async function addClient(
  { name, role }: { readonly name: string; readonly role: Role },
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const config = readConfig(env);
  const { jwtSecret, jwtIssuer: issuer, jwtAudience: audience, dataDir } = config;
  await useDatabase(config, async (storage) => {
    const minting = tokens({ key: tokenKey(jwtSecret, dataDir), issuer, audience }, systemClock);
    const made = await clients(storage, minting, systemClock, makeId).add(name, [role]);
    console.log(`client_id=${made.client.id}`);
    console.log(`client_secret=${made.secret}`);
    note("Store the secret now: it cannot be shown again.");
  });
}

/** `skyhook client list`. */
async function listClients(options: ListOptions, env: NodeJS.ProcessEnv): Promise<void> {
  await useDatabase(readConfig(env), async (storage) => {
    const rows = await storage.all(allClients, {});
    // Without the hash of the secret.
    const shown = rows.map(({ id, name, roles, createdAt }) => ({ id, name, roles, createdAt }));
    const columns = { client_id: "id", name: "name", roles: "roles", created: "createdAt" };
    printList(shown, columns, options);
  });
}

/** `skyhook client remove`: the client gets no more tokens, and those that it has are revoked. */
async function removeClient(id: string, env: NodeJS.ProcessEnv): Promise<void> {
  if (!isId("cli", id)) throw new Error("A client id starts with cli_");
  const unknown = new AppError(
    "not-found",
    `There is no client ${id}: list them with \`${programName} client list\``,
  );
  await withRevocations(env, (service, ctx) =>
    service.subject(ctx, { subject: id }, write(deleteClient, { id }, unknown)),
  );
  console.log(`removed ${id}; servers refuse its tokens within 5 seconds`);
}
