import { existsSync } from "node:fs";

import { type Command, Option } from "commander";

import { errorCode } from "../../base/errors.ts";
import { programName } from "../../base/program-name.ts";
import { readConfig } from "../../config/config.ts";
import { registeredProviders } from "../../config/providers.ts";
import { secretPlaces, type SecretStore, secretStore } from "../../config/secrets.ts";
import type { Provider } from "../../inbound/providers/provider.ts";
import { developmentSecret } from "../../inbound/signatures/development-secret.ts";
import { verifier } from "../../inbound/signatures/signature.ts";
import type { SecretRole } from "../../inbound/signatures/signed-request.ts";
import { maxSecretCharacters } from "../../inbound/signatures/usable-secret.ts";
import { argument, example, parseProviderId } from "../kit/arguments.ts";
import { messageOf } from "../kit/errors.ts";
import { findRegistered, requireNoVariable } from "../kit/find-provider.ts";
import { UsageError } from "../kit/output.ts";
import { readSecret } from "../kit/secret-input.ts";

import { reloadServer } from "./reload-server.ts";

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  const secrets = program.command("secrets").description("manage webhook secrets");
  secrets
    .command("init")
    .description("create development secrets for the providers that have none")
    .addHelpText("after", example("skyhook secrets init"))
    .action(() => initSecrets(env));
  secrets
    .command("set")
    .description("store a provider's webhook secret, read from standard input")
    .argument(
      "<provider>",
      "the provider's id, or its service, such as github",
      argument(parseProviderId),
    )
    .addOption(
      new Option(
        "--keep <which>",
        "the stored secret that stays accepted beside the new one",
      ).choices(["current", "previous"]),
    )
    .addHelpText("after", example("skyhook secrets set slack"))
    .action((provider: string, options: SetOptions) => setSecret(provider, options, env));
}

interface SetOptions {
  readonly keep?: SecretRole;
}

/** `skyhook secrets set`: as a file of mode 0600. One of the stored secrets stays accepted. Prints its place, never the secret. */
async function setSecret(
  name: string,
  { keep }: SetOptions,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const config = readConfig(env);
  const { secretsDir } = config;
  const { id: provider, signature } = await findRegistered(name, config);
  requireNoVariable(provider, secretsDir, env);
  const store = secretStore(env, secretsDir);
  const { current, previous } = secretPlaces(provider, secretsDir);
  // The files do not say which of the two the service signs with.
  if (keep === undefined && store.hasPreviousFile(provider) && existsSync(current.file)) {
    throw new UsageError(
      `${provider} has a current and a previous secret, and only one of them can stay accepted. Choose the one that the service signs with: --keep current, or --keep previous if the current one was a mistake. \`${programName} doctor\` says when each was last used.`,
    );
  }
  if (keep === "previous" && !store.hasPreviousFile(provider)) {
    throw new UsageError(
      `${provider} has no previous secret, so nothing was stored. Leave out --keep: the current one then stays accepted.`,
    );
  }
  const secret = (await readSecret(`Paste the secret of ${provider}, then press Enter: `)).trim();
  if (secret === "") throw new UsageError("The secret is empty, so nothing was stored");
  if (secret.length > maxSecretCharacters) {
    throw new UsageError(`A secret of more than ${maxSecretCharacters} characters is not stored`);
  }
  try {
    verifier(signature, { current: secret, previous: null });
  } catch (error) {
    throw new UsageError(`The secret ${messageOf(error)}. Nothing was stored.`, { cause: error });
  }
  const isRotation = existsSync(current.file);
  console.log(
    `stored  ${stored(() => store.storeWebhookSecret(provider, secret, keep ?? "current"))}`,
  );
  if (isRotation) {
    console.log(`the previous secret is in ${previous.file} and still accepted`);
  }
  console.log(await reloadServer(config, [provider]));
}

/** Throws a `UsageError` if the folder is read-only, as those of systemd's credentials and of a container's secrets are. */
function stored(store: () => string): string {
  try {
    return store();
  } catch (error) {
    const code = errorCode(error);
    if (code !== "EROFS" && code !== "EACCES") throw error;
    throw new UsageError(
      `SECRETS_DIR is read-only here (${code}), so nothing was stored. Write the files where they come from, then restart the server: docs/backup.md, "Rotate webhook secrets".`,
    );
  }
}

/** `skyhook secrets init`: one file per provider, for trying things out. Prints names, never secrets. */
async function initSecrets(env: NodeJS.ProcessEnv): Promise<void> {
  const config = readConfig(env);
  const { secretsDir } = config;
  const providers = registeredProviders(config);
  const store = secretStore(env, secretsDir);
  const made = createMissingSecrets(providers, store);
  for (const { id } of providers) {
    const { variable, file } = secretPlaces(id, secretsDir).current;
    const place = env[variable] === undefined ? file : variable;
    const isThere = store.webhookSecrets(id) !== null;
    console.log(`${made.includes(id) ? "made" : isThere ? "kept" : "none"}  ${place}`);
  }
  if (made.length > 0) {
    console.log(`
These are random secrets for \`send\` and for your own tests. To receive from the real
service, store its secret with \`${programName} secrets set <provider>\`.`);
  }
  // Also those that were there: the server may have started before they were written.
  console.log(await reloadServer(config, made));
}

/**
 * Creates a random secret for each provider that has none and returns the ids of those providers. Throws a
 * `ConfigError` before it creates any if an existing secret is invalid.
 */
export function createMissingSecrets(
  providers: readonly Provider[],
  store: SecretStore,
): readonly string[] {
  const missing = providers.filter(({ id }) => store.webhookSecrets(id) === null);
  return missing.flatMap(({ id, signature, secretPrefix }) => {
    const made = developmentSecret(signature, secretPrefix);
    // Where the service publishes its key, the secret is an account's name.
    if (made === null) return [];
    // First: without its other half, a public key would be of no use.
    if (made.privateKey !== null) store.createPrivateKey(id, made.privateKey);
    store.createWebhookSecret(id, made.secret);
    return [id];
  });
}
