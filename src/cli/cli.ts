import { Command } from "commander";

import { ConfigError, readConfig } from "../config.ts";
import { version } from "../version.ts";

/** Reads the command line and runs the command it names. Exit codes: 0 done, 1 failed, 2 wrong usage. */
export async function runCli(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const program = new Command("skyhook")
    .description("Receives webhooks, keeps them, and tells your operators.")
    .version(version);

  program
    .command("serve")
    .description("run the service")
    .action(async () => {
      const { serve } = await import("./serve.ts");
      await serve(readConfig(env), env);
    });

  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    console.error(`skyhook: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = error instanceof ConfigError ? 2 : 1;
  }
}
