import type { Command } from "commander";

import type { DemoOptions } from "../demo.ts";
import { fullVersion } from "../version.ts";

import { example } from "./declare.ts";

// Guarantee of the actions: see `declare` in ../cli.ts.

/** Commands that run the service, and tell what it would run with. */
export function declareServing(program: Command, env: NodeJS.ProcessEnv): void {
  example(
    program
      .command("serve")
      .description("run the service")
      .option("--port <port>", "the port to listen on, instead of PORT"),
    "skyhook serve --port 8080",
  ).action(async ({ port }: { readonly port?: string }) => {
    const { serve } = await import("../serve.ts");
    await serve(port === undefined ? env : { ...env, PORT: port });
  });

  example(
    program
      .command("demo")
      .description("run the service with flights, tokens and webhooks in it, in memory")
      .option("--keep <folder>", "leave it all in this folder, to go on with later"),
    "skyhook demo",
  ).action(async (options: DemoOptions) => {
    const { demo } = await import("../demo.ts");
    await demo(options, env);
  });

  example(
    program
      .command("config")
      .description("print every setting: its value in force, its default, its meaning")
      .option("--json", "print JSON"),
    "skyhook config --json",
  ).action(async (options: { json?: true }) => {
    const { config } = await import("../config.ts");
    config(options, env);
  });

  example(
    program.command("doctor").description("check all that a start depends on; changes nothing"),
    "skyhook doctor",
  ).action(async () => {
    const { doctor } = await import("../doctor.ts");
    await doctor(env);
  });

  example(
    program
      .command("version")
      .description("print the version, or all that this program is made of")
      .option(
        "--sbom",
        "print a CycloneDX 1.6 list of its packages: versions, licenses, addresses",
      ),
    "skyhook version --sbom",
  ).action(async ({ sbom: isSbom }: { readonly sbom?: true }) => {
    if (isSbom === undefined) {
      console.log(fullVersion());
      return;
    }
    const { sbom } = await import("../sbom.ts");
    console.log(JSON.stringify(sbom(), null, 2));
  });
}
