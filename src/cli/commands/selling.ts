import { type Command, Option } from "commander";

import { type Role, roles } from "../../base/context.ts";
import type { ImportOptions } from "../import.ts";

import { argument, example } from "./declare.ts";

// Guarantee of the actions: see `declare` in ../cli.ts.

/** Commands for flights, client programs and bookings. */
export function declareSelling(program: Command, env: NodeJS.ProcessEnv): void {
  example(
    program
      .command("import")
      .description("add flights, or update those that are there, from CSV or NDJSON")
      .argument("<file>", "- for standard input")
      .addOption(
        new Option(
          "--format <format>",
          "by default what the file's name says, else ndjson if it begins with {",
        ).choices(["csv", "ndjson"]),
      )
      .option("--skip-bad", "leave bad lines out; otherwise one keeps everything out"),
    "skyhook import flights.csv",
  ).action(async (file: string, options: ImportOptions) => {
    const { importCommand } = await import("../import.ts");
    await importCommand(file, options, env);
  });

  const client = program
    .command("client")
    .description("programs that get their own tokens (OAuth 2.0 client credentials)");
  example(
    client
      .command("add")
      .description("make a client; prints its id and, once, its secret")
      .requiredOption("--name <name>", "what it is for", argument(parseLine))
      .addOption(
        new Option("--role <role>", "what its tokens allow").choices(roles).default("user"),
      ),
    "skyhook client add --name ci --role operator",
  ).action(async (options: { name: string; role: Role }) => {
    const { addClient } = await import("../client.ts");
    await addClient(options, env);
  });
  example(client.command("list").description("list them"), "skyhook client list").action(
    async () => {
      const { listClients } = await import("../client.ts");
      await listClients(env);
    },
  );
  example(
    client.command("remove").description("remove one").argument("<client id>"),
    "skyhook client remove cli_019a9f0c5d7b7c3a8e21d4f60b7a9c55",
  ).action(async (id: string) => {
    const { removeClient } = await import("../client.ts");
    await removeClient(id, env);
  });

  const booking = program.command("booking").description("bookings, for whoever runs the service");
  example(
    booking
      .command("reveal")
      .description("show birth dates and passports of a booking; that it was shown is recorded")
      .argument("<booking id>", "as bk_0193…")
      .requiredOption("--reason <text>", "why; recorded with your name", argument(parseLine)),
    "skyhook booking reveal bk_019a9f0c5d7b7c3a8e21d4f60b7a9c55 --reason 'visa check, case 77'",
  ).action(async (id: string, options: { reason: string }) => {
    const { reveal } = await import("../reveal.ts");
    await reveal(id, options, env);
  });
}

/** For what is kept and listed: neither left empty, nor breaking the line that it is read in. */
function parseLine(text: string): string {
  const line = text.trim();
  if (/^\P{Cc}{1,500}$/u.test(line)) return line;
  throw new Error("Write 1 to 500 characters on one line.");
}
