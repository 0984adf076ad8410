import { Command, CommanderError } from "commander";

import { declareKeeping } from "./commands/keeping.ts";
import { declareOperating } from "./commands/operating.ts";
import { declareSelling } from "./commands/selling.ts";
import { declareServing } from "./commands/serving.ts";
import { declareTrying } from "./commands/trying.ts";
import { reportFailure } from "./failures.ts";
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
    reportFailure(error);
  }
}

// Guarantee of every action in commands/: Commander calls it with the arguments and options declared above
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
