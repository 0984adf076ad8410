import { type Command, Option } from "commander";

import { roles } from "../../base/context.ts";
import type { ConsoleOptions } from "../console.ts";
import { parseDuration } from "../durations.ts";
import type { RegisterOptions } from "../register.ts";
import type { ReplayOptions } from "../replay.ts";
import { parseBaseUrl } from "../request.ts";
import type { TokenOptions } from "../token.ts";

import { argument, example } from "./declare.ts";

// Guarantee of the actions: see `declare` in ../cli.ts.

/** Commands for whoever runs a service that is up. */
export function declareOperating(program: Command, env: NodeJS.ProcessEnv): void {
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
    const { token } = await import("../token.ts");
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
    const { consoleCommand } = await import("../console.ts");
    await consoleCommand(options, env);
  });

  example(
    program
      .command("replay")
      .description("have the server read an event anew and notify again")
      .argument("[event id]", "as evt_0193…")
      .option(
        "--undelivered",
        "every event with a notification that was given up or waits for its next try",
      )
      .option("--url <url>", "the server; by default the one at PORT here", argument(parseBaseUrl)),
    "skyhook replay evt_019a9f0c5d7b7c3a8e21d4f60b7a9c55",
  ).action(async (id: string | undefined, options: ReplayOptions) => {
    const { replay } = await import("../replay.ts");
    await replay(id, options, env);
  });

  example(
    program
      .command("register")
      .description("make the webhook at deploy_platform and store the secret that it answers with")
      .argument("<provider>", "deploy_platform")
      // Needed, but a provider that cannot be registered is refused before it is asked for.
      .option("--url <url>", "the gateway's public URL; needed", argument(parseBaseUrl))
      // https://vercel.com/docs/rest-api: the address of its API.
      .option(
        "--api-url <url>",
        "the platform's API",
        argument(parseBaseUrl),
        "https://api.vercel.com",
      )
      .option(
        "--token <token>",
        "the platform's API token; better in DEPLOY_API_TOKEN, which `ps` does not show",
      )
      .option("--dry-run", "print the request, without the token, and do not send it"),
    "skyhook register deploy_platform --url https://hooks.example.com",
  ).action(async (provider: string, options: RegisterOptions) => {
    const { register } = await import("../register.ts");
    await register(provider, options, env);
  });
}
