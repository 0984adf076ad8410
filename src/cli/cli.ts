import { Command, CommanderError, Help } from "commander";

import { programName } from "../base/program-name.ts";

import { reportError, usageLine } from "./kit/errors.ts";
import { fullVersion } from "./kit/program.ts";

interface CommandFile {
  /**
   * Adds the command to the program. Commander calls its action with the arguments and options declared
   * beside it, of the types that their parsers return: the types of an action rely on that.
   */
  declare(program: Command, env: NodeJS.ProcessEnv): void;
}

/** One file per command, in the order of the help text. */
const commands = new Map<string, () => Promise<CommandFile>>([
  ["serve", () => import("./host/serve.ts")],
  ["demo", () => import("./demo/demo.ts")],
  ["config", () => import("./host/config.ts")],
  ["doctor", () => import("./host/doctor.ts")],
  ["secrets", () => import("./host/secrets.ts")],
  ["send", () => import("./develop/send.ts")],
  ["sign", () => import("./develop/sign.ts")],
  ["verify", () => import("./develop/verify.ts")],
  ["token", () => import("./develop/token.ts")],
  ["console", () => import("./operate/console.ts")],
  ["events", () => import("./operate/events.ts")],
  ["rejections", () => import("./operate/rejections.ts")],
  ["listen", () => import("./develop/listen.ts")],
  ["tail", () => import("./develop/tail.ts")],
  ["sessions", () => import("./operate/sessions.ts")],
  ["keys", () => import("./operate/keys.ts")],
  ["replay", () => import("./operate/replay.ts")],
  ["destination", () => import("./operate/destination.ts")],
  ["apply", () => import("./operate/apply.ts")],
  ["register", () => import("./develop/register.ts")],
  ["provider", () => import("./develop/provider.ts")],
  ["reconcile", () => import("./host/reconcile.ts")],
  ["backup", () => import("./host/backup.ts")],
  ["restore", () => import("./host/restore.ts")],
  ["upgrade", () => import("./host/upgrade.ts")],
  ["copy", () => import("./host/copy.ts")],
  ["import", () => import("./host/import.ts")],
  ["client", () => import("./host/client.ts")],
  ["booking", () => import("./operate/booking.ts")],
  ["person", () => import("./host/person.ts")],
  ["mcp", () => import("./operate/mcp.ts")],
  ["version", () => import("./host/version.ts")],
  ["completion", () => import("./completion.ts")],
]);

/** Parses the command line and runs its command. Exit codes: 0 done, 1 failed, 2 wrong usage. */
export async function runCli(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const program = createProgram();
  const isForDemo = argv[2] === demoOption;
  const words = isForDemo ? argv.toSpliced(2, 1) : [...argv];
  try {
    const known = isForDemo ? (await import("./demo/state.ts")).envOfDemo(env) : env;
    for (const load of commandsNeeded(words[2])) (await load()).declare(program, known);
    await program.parseAsync(words);
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has already printed the message. Help and version exit with 0.
      process.exitCode = error.exitCode === 0 ? 0 : 2;
      return;
    }
    reportError(error);
  }
}

const demoOption = "--demo";

/** A command loads its own file only. Help and the suggestion for a misspelt name need them all. */
function commandsNeeded(name = ""): readonly (() => Promise<CommandFile>)[] {
  const named = commands.get(name);
  return named === undefined ? [...commands.values()] : [named];
}

function createProgram(): Command {
  return (
    new Command("skyhook")
      .description("Webhook gateway and flight-booking API.")
      .option("-V, --version", "print the version, the commit and Bun's version")
      .on("option:version", () => {
        console.log(fullVersion());
        throw new CommanderError(0, "commander.version", "");
      })
      .option(
        demoOption,
        "before a command: run it for the running demo of this folder, or of PORT",
      )
      // Of options that a command and its operations share, those after an operation are its own.
      .enablePositionalOptions()
      .exitOverride()
      .configureOutput({ outputError: (text, write) => write(usageLine(text)) })
      .configureHelp({
        showGlobalOptions: false,
        optionDescription: (option) =>
          new Help().optionDescription(option) + (option.mandatory ? " (required)" : ""),
      })
      .addHelpText(
        "after",
        `\nExit codes: 0 done, 1 failed, 2 wrong usage or configuration.\n\`${programName} config\` lists the environment variables; \`${programName} completion\` completes commands in a shell.`,
      )
  );
}
