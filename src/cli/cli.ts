import { Command, CommanderError, InvalidArgumentError, Option } from "commander";

import { readConfig } from "../config.ts";
import { type Role, roles } from "../context.ts";

import type { BackupOptions } from "./backup.ts";
import type { ConsoleOptions } from "./console.ts";
import type { CopyOptions } from "./copy.ts";
import type { DemoOptions } from "./demo.ts";
import { parseDuration } from "./durations.ts";
import { exitCodeOf, messageOf } from "./failures.ts";
import type { ImportOptions } from "./import.ts";
import type { RegisterOptions } from "./register.ts";
import { parseBaseUrl } from "./request.ts";
import type { RestoreOptions } from "./restore.ts";
import type { SendOptions } from "./send.ts";
import type { TokenOptions } from "./token.ts";
import type { VerifyOptions } from "./verify.ts";
import { fullVersion } from "./version.ts";

/** Reads the command line and runs the command it names. Exit codes: 0 done, 1 failed, 2 wrong usage. */
export async function runCli(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  try {
    await declare(env).parseAsync([...argv]);
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has said what is wrong by now; help and version are no error.
      process.exitCode = error.exitCode === 0 ? 0 : 2;
      return;
    }
    console.error(`skyhook: ${messageOf(error)}`);
    process.exitCode = exitCodeOf(error);
  }
}

// Guarantee of every action below: Commander calls it with the arguments and options declared above
// it, of the types that their parsers return. Each command is loaded only when it runs.
function declare(env: NodeJS.ProcessEnv): Command {
  const program = new Command("skyhook")
    .description("Receives webhooks, keeps them, and tells your operators.")
    .option("-V, --version", "print the version, the commit it was made from, and Bun's version")
    .on("option:version", () => {
      console.log(fullVersion());
      throw new CommanderError(0, "commander.version", "");
    })
    .exitOverride()
    .configureHelp({ showGlobalOptions: false })
    .addHelpText(
      "after",
      "\nExit codes: 0 done, 1 failed, 2 wrong usage or configuration.\n`skyhook config` lists the environment variables that count.",
    );
  declareServing(program, env);
  declareTrying(program, env);
  declareOperating(program, env);
  declareKeeping(program, env);
  declareSelling(program, env);
  return program;
}

function declareServing(program: Command, env: NodeJS.ProcessEnv): void {
  example(
    program.command("serve").description("run the service"),
    "PORT=8080 skyhook serve",
  ).action(async () => {
    const { serve } = await import("./serve.ts");
    await serve(readConfig(env), env);
  });

  example(
    program
      .command("demo")
      .description("run the service with flights, tokens and webhooks in it, in memory")
      .option("--keep <folder>", "leave it all in this folder, to go on with later"),
    "skyhook demo",
  ).action(async (options: DemoOptions) => {
    const { demo } = await import("./demo.ts");
    await demo(options, env);
  });

  example(
    program
      .command("config")
      .description("print every setting: its value in force, its default, its meaning")
      .option("--json", "print JSON"),
    "skyhook config --json",
  ).action(async (options: { json?: true }) => {
    const { config } = await import("./config.ts");
    config(options, env);
  });

  example(
    program.command("doctor").description("check all that a start depends on; changes nothing"),
    "skyhook doctor",
  ).action(async () => {
    const { doctor } = await import("./doctor.ts");
    await doctor(env);
  });
}

function declareTrying(program: Command, env: NodeJS.ProcessEnv): void {
  example(
    program
      .command("send")
      .description("sign a sample delivery as its provider would, and post it")
      .argument("[provider]", "as task_tracker")
      .argument("[event]", "as task.completed")
      .option("--list", "print every provider and event there is")
      .addOption(
        new Option("--tamper <what>", "spoil it: 401 is the right answer then").choices([
          "signature",
          "body",
          "time",
        ]),
      )
      .option("--url <url>", "the server; by default the one at PORT here", argument(parseBaseUrl))
      .option(
        "--secret <secret>",
        "instead of the one configured; other users see it in the process list",
      )
      .option(
        "--id <uuid>",
        "the delivery's id; the same again is a duplicate",
        argument(parseUuid),
      ),
    "skyhook send task_tracker task.completed",
  ).action(async (provider?: string, event?: string, options: SendOptions = {}) => {
    const { send } = await import("./send.ts");
    await send(provider, event, options, env);
  });

  example(
    program
      .command("verify")
      .description("say whether a delivery verifies, and if not, why")
      .argument("<provider>", "as code_host")
      .requiredOption("--body <file>", "the exact bytes of the body; - for standard input")
      .option("--header <line>", "a header as 'name: value'; may be repeated", collect, [])
      .option("--headers-file <file>", "a file with one header a line")
      .option(
        "--secret <secret>",
        "instead of the one configured; other users see it in the process list",
      )
      .option("--at <time>", "when it came, as 2026-11-21T09:00:00Z", argument(parseTime)),
    "skyhook verify code_host --body body.json --header 'x-codehost-signature-256: sha256=…'",
  ).action(async (provider: string, options: VerifyOptions) => {
    const { verify } = await import("./verify.ts");
    await verify(provider, options, env);
  });
}

function declareOperating(program: Command, env: NodeJS.ProcessEnv): void {
  example(
    program
      .command("token")
      .description("print an access token; makes the user where the e-mail address is new")
      .requiredOption("--email <email>", "whose token it is")
      .option("--name <name>", "for a new user; by default the e-mail address up to the @")
      .addOption(new Option("--role <role>", "what it allows").choices(roles).default("user"))
      .addOption(
        new Option("--ttl <duration>", "how long it is valid, as 30s, 15m, 1h, 7d; 365d at most")
          .argParser(argument(parseDuration))
          .default(parseDuration("1h"), "1h"),
      ),
    "TOKEN=$(skyhook token --email ada@example.com --role operator)",
  ).action(async (options: TokenOptions) => {
    const { token } = await import("./token.ts");
    await token(options, env);
  });

  example(
    program
      .command("console")
      .description("print a link that signs in to the console, once and within two minutes")
      .addOption(
        new Option("--role <role>", "what it allows")
          .choices(["operator", "admin"])
          .default("operator"),
      )
      .option("--url <url>", "the server; by default the one at PORT here", argument(parseBaseUrl))
      .option("--open", "open it too; other users see it in the process list for a moment"),
    "skyhook console",
  ).action(async (options: ConsoleOptions) => {
    const { consoleCommand } = await import("./console.ts");
    await consoleCommand(options, env);
  });

  example(
    program
      .command("copy")
      .description(
        "copy one database to another, empty one, and compare them; stop the servers first",
      )
      .requiredOption("--from <url>", "as sqlite:./data/skyhook.db")
      .requiredOption("--to <url>", "as postgres://user:password@host:5432/database"),
    "skyhook copy --from sqlite:./data/skyhook.db --to postgres://skyhook@localhost/skyhook",
  ).action(async (options: CopyOptions) => {
    const { copy } = await import("./copy.ts");
    await copy(options, env);
  });

  example(
    program
      .command("replay")
      .description("have the server read an event anew and notify again")
      .argument("<event id>", "as evt_0193…")
      .option("--url <url>", "the server; by default the one at PORT here", argument(parseBaseUrl)),
    "skyhook replay evt_019a9f0c5d7b7c3a8e21d4f60b7a9c55",
  ).action(async (id: string, options: { url?: string }) => {
    const { replay } = await import("./replay.ts");
    await replay(id, options, env);
  });

  example(
    program
      .command("register")
      .description("make the webhook at deploy_platform and store the secret that it answers with")
      .argument("<provider>", "deploy_platform")
      .requiredOption("--url <url>", "the gateway's public URL", argument(parseBaseUrl))
      .requiredOption("--api-url <url>", "the platform's API", argument(parseBaseUrl))
      .option(
        "--token <token>",
        "the platform's API token; better in DEPLOY_API_TOKEN, which `ps` does not show",
      )
      .option("--dry-run", "print the request, without the token, and do not send it"),
    "skyhook register deploy_platform --url https://hooks.example.com --api-url https://api.example.com",
  ).action(async (provider: string, options: RegisterOptions) => {
    const { register } = await import("./register.ts");
    await register(provider, options, env);
  });
}

function declareKeeping(program: Command, env: NodeJS.ProcessEnv): void {
  example(
    program
      .command("backup")
      .description("copy the database as it is at this moment, also while the server runs")
      .argument("<file>", "the copy; not there yet")
      .option("--force", "replace the file where it is there"),
    "skyhook backup /backups/skyhook-$(date +%F).db",
  ).action(async (file: string, options: BackupOptions) => {
    const { backup } = await import("./backup.ts");
    await backup(file, options, env);
  });

  example(
    program
      .command("restore")
      .description("put a backup in the place of the database; the server must be stopped")
      .argument("<file>", "what `skyhook backup` made; stays as it is")
      .option("--force", "also where a database is there; that one is kept under another name"),
    "skyhook restore /backups/skyhook-2026-11-21.db",
  ).action(async (file: string, options: RestoreOptions) => {
    const { restore } = await import("./restore.ts");
    await restore(file, options, env);
  });
}

function declareSelling(program: Command, env: NodeJS.ProcessEnv): void {
  example(
    program
      .command("import")
      .description("add flights, or update those that are there, from CSV or NDJSON")
      .argument("<file>", "- for standard input")
      .addOption(
        new Option("--format <format>", "by default what the file's name says, else csv").choices([
          "csv",
          "ndjson",
        ]),
      )
      .option("--skip-bad", "leave bad lines out; otherwise one keeps everything out"),
    "skyhook import flights.csv",
  ).action(async (file: string, options: ImportOptions) => {
    const { importCommand } = await import("./import.ts");
    await importCommand(file, options, env);
  });

  const client = program
    .command("client")
    .description("programs that get their own tokens (OAuth 2.0 client credentials)");
  example(
    client
      .command("add")
      .description("make a client; prints its id and, once, its secret")
      .requiredOption("--name <name>", "what it is for")
      .addOption(
        new Option("--role <role>", "what its tokens allow").choices(roles).default("user"),
      ),
    "skyhook client add --name ci --role operator",
  ).action(async (options: { name: string; role: Role }) => {
    const { addClient } = await import("./client.ts");
    await addClient(options, env);
  });
  example(client.command("list").description("list them"), "skyhook client list").action(
    async () => {
      const { listClients } = await import("./client.ts");
      await listClients(env);
    },
  );
  example(
    client.command("remove").description("remove one").argument("<client id>"),
    "skyhook client remove cli_019a9f0c5d7b7c3a8e21d4f60b7a9c55",
  ).action(async (id: string) => {
    const { removeClient } = await import("./client.ts");
    await removeClient(id, env);
  });

  const booking = program.command("booking").description("bookings, for whoever runs the service");
  example(
    booking
      .command("reveal")
      .description("show birth dates and passports of a booking; that it was shown is recorded")
      .argument("<booking id>", "as bk_0193…")
      .requiredOption("--reason <text>", "why; recorded with your name"),
    "skyhook booking reveal bk_019a9f0c5d7b7c3a8e21d4f60b7a9c55 --reason 'visa check, case 77'",
  ).action(async (id: string, options: { reason: string }) => {
    const { reveal } = await import("./reveal.ts");
    await reveal(id, options, env);
  });
}

function example(command: Command, line: string): Command {
  return command.addHelpText("after", `\nExample:\n  $ ${line}`);
}

/** A parser for Commander: what it throws is shown as a fault of the argument. */
function argument<Value>(parse: (text: string) => Value): (text: string) => Value {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      throw new InvalidArgumentError(messageOf(error));
    }
  };
}

function collect(value: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, value];
}

function parseTime(text: string): Date {
  const time = new Date(text);
  if (!/^\d{4}-\d{2}-\d{2}T.*(?:Z|[+-]\d{2}:\d{2})$/.test(text) || Number.isNaN(time.getTime())) {
    throw new Error("Write a time with its offset, like 2026-11-21T09:00:00Z.");
  }
  return time;
}

function parseUuid(text: string): string {
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text.toLowerCase();
  throw new Error("Write a UUID, as crypto.randomUUID() makes.");
}
