import type { Command } from "commander";

import { readConfig } from "../config/config.ts";
import { secretPlaces, type SecretStore, secretStore } from "../config/secrets.ts";
import { providerById } from "../gateway/providers/catalogue.ts";

import { example } from "./arguments.ts";

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command("secrets")
    .description("manage webhook secrets")
    .command("init")
    .description("create development secrets for the providers that have none")
    .addHelpText("after", example("skyhook secrets init"))
    .action(() => initSecrets(env));
}

/** `skyhook secrets init`: one file per provider, for trying things out. Prints names, never secrets. */
function initSecrets(env: NodeJS.ProcessEnv): void {
  const { providers, secretsDir } = readConfig(env);
  const made = createMissingSecrets(providers, secretStore(env, secretsDir));
  for (const id of providers) {
    const { variable, file } = secretPlaces(id, secretsDir).current;
    const place = env[variable] === undefined ? file : variable;
    console.log(`${made.includes(id) ? "made" : "kept"}  ${place}`);
  }
  if (made.length === 0) return;
  console.log(
    "\nThese are random secrets for `send` and for your own tests. To receive from the real",
  );
  console.log(
    "service, write its secret to the file. A running server reads them on kill -HUP <pid>.",
  );
}

/**
 * Creates a random secret for each provider that has none and returns the ids of those providers. Throws a
 * `ConfigError` before it creates any if an existing secret is invalid.
 */
export function createMissingSecrets(
  providers: readonly string[],
  store: SecretStore,
): readonly string[] {
  const missing = providers.filter((id) => store.webhookSecrets(id) === null);
  for (const id of missing) {
    const random = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("hex");
    store.createWebhookSecret(id, `${providerById(id)?.secretPrefix ?? ""}${random}`);
  }
  return missing;
}
