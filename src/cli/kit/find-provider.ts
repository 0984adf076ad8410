import { programName } from "../../base/program-name.ts";
import type { Config } from "../../config/config.ts";
import { knownProviders, registeredProviders } from "../../config/providers.ts";
import { secretPlaces, secretStore } from "../../config/secrets.ts";
import { loadCatalogue } from "../../inbound/onboarding/catalogue-entries.ts";
import { byBrand, meantProvider } from "../../inbound/providers/brand.ts";
import { catalogue } from "../../inbound/providers/catalogue.ts";
import type { Provider } from "../../inbound/providers/provider.ts";
import { canMakeSecret, signingKeyWith } from "../../inbound/signatures/development-secret.ts";
import type { SigningKey } from "../../inbound/signatures/keys.ts";
import { hasSharedSecret } from "../../inbound/signatures/scheme.ts";
import type { Secrets } from "../../inbound/signatures/signed-request.ts";

import { UsageError } from "./output.ts";

/** The provider with this id, or of this service, such as `github`. Throws a `UsageError` that lists all of `providers`. */
export function findProvider(
  id: string | undefined,
  providers: readonly Provider[] = catalogue,
): Provider {
  const known = providers.map((candidate) => candidate.id).join(", ");
  if (id === undefined) throw new UsageError(`Name a provider: ${known}`);
  const provider = providers.find((candidate) => candidate.id === id) ?? byBrand(id, providers);
  if (provider !== undefined) return provider;
  const near = meantProvider(id, providers);
  const hint = near === null ? "" : ` Did you mean ${near}?`;
  throw new UsageError(`There is no provider "${id}".${hint} Providers: ${known}`);
}

/** The same among all that are known here. Of a service whose file comes with the program, the error says how to add it. */
export async function findKnown(id: string | undefined, config: Config): Promise<Provider> {
  const known = knownProviders(config);
  const name = id?.toLowerCase() ?? "";
  if (
    known.some((each) => each.id === name) ||
    byBrand(name, known) !== undefined ||
    !(await hasFile(name))
  ) {
    return findProvider(id, known);
  }
  throw new UsageError(
    `${name} is not added yet. Run \`${programName} provider add ${name}\` first.`,
  );
}

const hasFile = async (name: string) => Object.hasOwn((await loadCatalogue()).catalogueFiles, name);

/**
 * The registered provider with this id, or of this service: what stores a secret needs one that reads it. Throws a `UsageError`
 * that says how to register another one.
 */
export async function findRegistered(name: string, config: Config): Promise<Provider> {
  const registered = registeredProviders(config);
  const found = registered.find(({ id }) => id === name) ?? byBrand(name, registered);
  if (found !== undefined) return found;
  if (await hasFile(name)) {
    throw new UsageError(
      `${name} is not registered, so nothing was changed. Run \`${programName} provider add ${name}\` first.`,
    );
  }
  const { id } = findProvider(name, knownProviders(config));
  throw new UsageError(
    `${id} is not registered: its route answers 404, and nothing reads its secret, so nothing was changed. Set WEBHOOK_PROVIDERS=${[...config.providers, id].join(",")} for the server and for this command, restart the server, then try again.`,
  );
}

/** Throws a `UsageError` if a variable overrides a file that would be stored: the server would go on with the variable. */
export function requireNoVariable(id: string, secretsDir: string, env: NodeJS.ProcessEnv): void {
  const places = Object.values(secretPlaces(id, secretsDir));
  const set = places.find(({ variable }) => env[variable] !== undefined);
  if (set === undefined) return;
  throw new UsageError(
    `${set.variable} is set and overrides ${set.file}, so nothing was changed. Move its value into that file, remove the variable from the environment of the server (also from its env_file), restart the server, then try again.`,
  );
}

/**
 * A provider's secrets: the one from the command line, else those that the server would use. Throws an error
 * that says where to store one if it is missing.
 */
export function secretsOf(
  { id, signature }: Provider,
  given: string | undefined,
  secretsDir: string,
  env: NodeJS.ProcessEnv,
): Secrets {
  if (given === "") throw new UsageError("--secret is empty");
  if (given !== undefined) return { current: given, previous: null };
  const secrets = secretStore(env, secretsDir).webhookSecrets(id);
  if (secrets !== null) return secrets;
  const { variable, file } = secretPlaces(id, secretsDir).current;
  throw new Error(
    `${id} has no secret. Run \`${programName} secrets ${canMakeSecret(signature) ? "init" : `set ${id}`}\` (first add it to WEBHOOK_PROVIDERS if it is missing there), write ${file}, set ${variable}, or pass --secret`,
  );
}

/**
 * What signs in place of the provider: its secret, or the private key of the test key that `secrets init` made. Throws an error
 * that says what to do if only the service can sign.
 */
export function signingKeyOf(
  { id, signature }: Provider,
  { current: secret }: Secrets,
  secretsDir: string,
  env: NodeJS.ProcessEnv,
): SigningKey {
  if (hasSharedSecret(signature)) return { secret };
  const privateKey = secretStore(env, secretsDir).privateKey(id);
  if (privateKey !== null) return signingKeyWith({ secret, privateKey });
  throw new Error(
    `Only the service can sign deliveries of ${id}: its key is private. To try it out, remove its secret and run \`${programName} secrets init\`, which makes a pair of test keys where the scheme allows it`,
  );
}

/** Help text of `--secret`. */
export const secretOption =
  "use this secret instead of the configured one; other users see it in the process list";
