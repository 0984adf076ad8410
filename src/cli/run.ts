import { reportFailure } from "./failures.ts";

/**
 * Runs what the command line says. `skyhook serve` without options is started without the parser and
 * all the help texts, so that it answers sooner.
 */
export async function run(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const [, , command, ...rest] = argv;
  if (command !== "serve" || rest.length > 0) {
    const { runCli } = await import("./cli.ts");
    return runCli(argv, env);
  }
  try {
    const { serve } = await import("./serve.ts");
    await serve(env);
  } catch (error) {
    reportFailure(error);
  }
}
