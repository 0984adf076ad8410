import { reportError } from "./kit/errors.ts";

/** Runs the command line. `skyhook serve` without options skips the parser, to start sooner. */
export async function run(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const [, , command, ...rest] = argv;
  if (command !== "serve" || rest.length > 0) {
    endQuietlyWithoutReader();
    const { runCli } = await import("./cli.ts");
    return runCli(argv, env);
  }
  try {
    const { serve } = await import("./host/serve.ts");
    await serve(env);
  } catch (error) {
    reportError(error);
  }
}

/** As other programs do when what they write to, such as `head`, has ended. */
function endQuietlyWithoutReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    // Once, also where tests run many commands in one process.
    stream.off("error", onWriteError).on("error", onWriteError);
  }
}

function onWriteError(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
}
