import type { Command } from "commander";

import { readConfig } from "../../config/config.ts";
import { argument, example } from "../kit/arguments.ts";
import { findProvider } from "../kit/find-provider.ts";
import { UsageError } from "../kit/output.ts";
import { parseBaseUrl } from "../kit/request.ts";

import { registerCodeHost } from "./register/code_host.ts";
import { registerDeployPlatform } from "./register/deploy_platform.ts";
import { registerPaymentProcessor } from "./register/payment_processor.ts";
import type { RegisterOptions, Registration } from "./register/registration.ts";

/** The providers with an API for this. The others are set up by hand. */
const registrations: Readonly<Record<string, (registration: Registration) => Promise<void>>> = {
  deploy_platform: registerDeployPlatform,
  code_host: registerCodeHost,
  payment_processor: registerPaymentProcessor,
};
const names = Object.keys(registrations).join(", ");

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command("register")
    .description("create the webhook at a provider, through its API, and store its secret")
    .argument("<provider>", names)
    // Required, but checked later: a provider without an API for this is reported first.
    .option("--url <url>", "public URL of this gateway; required", argument(parseBaseUrl))
    .option("--repo <owner/repo>", "code_host: the repository")
    .option("--org <org>", "code_host: the organization, for all of its repositories")
    .option(
      "--api-url <url>",
      "base URL of the provider's API; default: that of the service",
      argument(parseBaseUrl),
    )
    .option(
      "--token <token>",
      "API token; DEPLOY_API_TOKEN, CODE_HOST_API_TOKEN or PAYMENT_PROCESSOR_API_TOKEN hides it from the process list",
    )
    .option("--dry-run", "print the request without the token; do not send it")
    .addHelpText(
      "after",
      example("skyhook register code_host --repo acme/web --url https://hooks.example.com"),
    )
    .action((provider: string, options: RegisterOptions) => register(provider, options, env));
}

/** `skyhook register`: creates the webhook at the provider, or updates it, and stores its secret. */
export async function register(
  providerId: string,
  options: RegisterOptions,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const provider = findProvider(providerId);
  const { id, setUp = "Create the webhook in its own settings." } = provider;
  const registration = registrations[id];
  if (registration === undefined) {
    throw new UsageError(`${id} has no API for this. ${setUp} Only ${names} can be registered`);
  }
  await registration({ provider, options, config: readConfig(env), env });
}
