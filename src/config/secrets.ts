import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

import { errorMessage } from "../base/errors.ts";
import { makePrivateFolder, makePrivately, writePrivately } from "../base/private-file.ts";
import type { KeyRing } from "../base/sealing.ts";
import type { Provider } from "../inbound/providers/provider.ts";
import { hasSharedSecret } from "../inbound/signatures/scheme.ts";
import { verifier } from "../inbound/signatures/signature.ts";
import type { SecretRole, Secrets } from "../inbound/signatures/signed-request.ts";

import { readSetting } from "./config.ts";
import { collectErrors, ConfigError } from "./errors.ts";
import { apiToken, base64Key } from "./parsers.ts";
import { registeredProviders } from "./providers.ts";
import { type FoundText, readSecretFile, requireFolder, requireText } from "./secret-file.ts";
import { settings } from "./settings.ts";

/** Reads secrets from the environment or, if a variable is not set, from one file per secret. */
export interface SecretStore {
  /** The provider's secrets; null if it has none. Throws a `ConfigError` if one is empty. */
  webhookSecrets(provider: string): Secrets | null;
  /**
   * Stores a provider's secret as a file of mode 0600 and returns its path. Of the former secrets, `kept` becomes the
   * previous one, so that requests signed with it still verify; the other is dropped.
   */
  storeWebhookSecret(provider: string, secret: string, kept: SecretRole): string;
  /** Whether the provider's files have a previous secret. */
  hasPreviousFile(provider: string): boolean;
  /** Stores a provider's first secret as a file of mode 0600. An existing file is never replaced. */
  createWebhookSecret(provider: string, secret: string): void;
  /** Removes what `createWebhookSecret` and `createPrivateKey` have just stored. */
  removeWebhookSecret(provider: string): void;
  /** The variable that sets the provider's secret, so that its file is not read; null if none does. */
  secretVariable(provider: string): string | null;
  /** The same for the provider's previous secret. */
  previousVariable(provider: string): string | null;
  /**
   * The token for a provider's API: `CODE_HOST_API_TOKEN` or the file `code_host_api_token`. Null if not set.
   * Read at each call, so that a new file needs no restart. Throws a `ConfigError` if it is not valid.
   */
  apiToken(provider: string): string | null;
  /** Stores the private key of a test key, whose public one is the provider's secret. */
  createPrivateKey(provider: string, pem: string): void;
  /** The private half of the provider's test key, or null. */
  privateKey(provider: string): string | null;
  /** The provider's secret files that are ignored because a variable sets the same secret. */
  unreadFiles(provider: string): readonly SecretPlace[];
  /**
   * The keys for personal data: `PERSONAL_DATA_KEY` or the file `personal_data_key`, then the previous ones
   * in `…_PREVIOUS`, separated by commas. Each is the base64 of 32 bytes. If there is no current key, one is
   * created and stored in `dataDir`.
   */
  personalDataKeys(dataDir: string): KeyRing;
  /** The existing keys for personal data. Creates none, so the list may be empty. */
  personalDataKeysThere(dataDir: string): readonly Uint8Array[];
}

/** The places of a secret. The variable wins over the file. */
export interface SecretPlace {
  readonly variable: string;
  readonly file: string;
}

/** The places of a key for personal data: the variable wins over the files, the first file over the second. */
interface PersonalDataKeyPlace {
  readonly variable: string;
  readonly files: readonly string[];
}

/** The places of the keys for personal data, by role. */
export function personalDataKeyPlaces(
  secretsDir: string,
  dataDir: string,
): Readonly<Record<SecretRole, PersonalDataKeyPlace>> {
  const place = (name: string) => ({
    variable: name.toUpperCase(),
    files: [join(secretsDir, name), join(dataDir, name)],
  });
  return { current: place("personal_data_key"), previous: place("personal_data_key_previous") };
}

/** The places of a provider's secret, by role. */
export function secretPlaces(
  provider: string,
  secretsDir: string,
): Readonly<Record<SecretRole, SecretPlace>> {
  const place = (name: string) => ({
    variable: name.toUpperCase(),
    file: join(secretsDir, name),
  });
  const current = `${provider}_webhook_secret`;
  return { current: place(current), previous: place(`${current}_previous`) };
}

/**
 * A secret is `TASK_TRACKER_WEBHOOK_SECRET` in the environment, or the file
 * `task_tracker_webhook_secret` in `secretsDir`; with `_PREVIOUS` / `_previous` for the one before.
 */
export function secretStore(
  env: Readonly<Record<string, string | undefined>>,
  secretsDir: string,
): SecretStore {
  function find({ variable, files }: PersonalDataKeyPlace): FoundText | null {
    const value = env[variable];
    if (value !== undefined) return { source: variable, text: requireText(value, variable) };
    for (const file of files) {
      const found = readSecretFile(file);
      if (found !== null) return found;
    }
    return null;
  }
  const variableOf = ({ variable }: SecretPlace) => (env[variable] === undefined ? null : variable);
  const read = ({ variable, file }: SecretPlace) => find({ variable, files: [file] })?.text ?? null;
  function dataKeys(dataDir: string) {
    const places = personalDataKeyPlaces(secretsDir, dataDir);
    const [current, previous] = [find(places.current), find(places.previous)];
    return {
      current: current === null ? null : dataKey(current),
      previous:
        previous?.text.split(",").map((text) => dataKey({ source: previous.source, text })) ?? [],
    };
  }
  return {
    webhookSecrets(provider) {
      const places = secretPlaces(provider, secretsDir);
      const [current, previous] = collectErrors([
        () => read(places.current),
        () => read(places.previous),
      ]);
      return current === null ? null : { current, previous };
    },
    storeWebhookSecret(provider, secret, kept) {
      const { current, previous } = secretPlaces(provider, secretsDir);
      makePrivateFolder(secretsDir);
      const before = existsSync(current.file) ? readFileSync(current.file, "utf8").trim() : "";
      // In this order, a crash between the two writes leaves the old secret as the current one.
      if (kept === "current" && before !== "" && before !== secret) {
        writePrivately(previous.file, before);
      }
      writePrivately(current.file, secret);
      return current.file;
    },
    hasPreviousFile: (provider) => existsSync(secretPlaces(provider, secretsDir).previous.file),
    createWebhookSecret(provider, secret) {
      makePrivateFolder(secretsDir);
      makePrivately(secretPlaces(provider, secretsDir).current.file, secret);
    },
    removeWebhookSecret(provider) {
      rmSync(secretPlaces(provider, secretsDir).current.file, { force: true });
      rmSync(privateKeyFile(provider, secretsDir), { force: true });
    },
    secretVariable: (provider) => variableOf(secretPlaces(provider, secretsDir).current),
    previousVariable: (provider) => variableOf(secretPlaces(provider, secretsDir).previous),
    apiToken(provider) {
      const name = `${provider}_api_token`;
      const variable = name.toUpperCase();
      const found = env[variable]?.trim() || readSecretFile(join(secretsDir, name))?.text || null;
      try {
        return found === null ? null : apiToken(found);
      } catch (error) {
        throw new ConfigError(`${variable} must be ${errorMessage(error)}`);
      }
    },
    createPrivateKey(provider, pem) {
      makePrivateFolder(secretsDir);
      const file = privateKeyFile(provider, secretsDir);
      // A pair of which only this half was stored.
      if (existsSync(file)) writePrivately(file, pem);
      else makePrivately(file, pem);
    },
    privateKey: (provider) => readSecretFile(privateKeyFile(provider, secretsDir))?.text ?? null,
    unreadFiles: (provider) =>
      Object.values(secretPlaces(provider, secretsDir)).filter(
        ({ variable, file }) => env[variable] !== undefined && existsSync(file),
      ),
    personalDataKeys(dataDir) {
      const { current, previous } = dataKeys(dataDir);
      const file = personalDataKeyFile(dataDir);
      const made = () => dataKey({ source: file, text: createdOnce(file, "base64") });
      return [current ?? made(), ...previous];
    },
    personalDataKeysThere(dataDir) {
      const { current, previous } = dataKeys(dataDir);
      return current === null ? previous : [current, ...previous];
    },
  };
}

/** The file of the private key that `send` signs with, for providers that sign with public keys. */
function privateKeyFile(provider: string, secretsDir: string): string {
  return join(secretsDir, `${provider}_webhook_private_key`);
}

/**
 * Throws a `ConfigError` that names every invalid secret of a server, and each path of secrets or provider files that is
 * a file instead of a folder. Creates no secrets.
 */
export function requireSecrets(env: Readonly<Record<string, string | undefined>>): void {
  const [secretsDir, dataDir, ids, providersDir] = [
    readSetting(settings.secretsDir, env) ?? "",
    readSetting(settings.dataDir, env) ?? "",
    readSetting(settings.providers, env) ?? [],
    readSetting(settings.providersDir, env) ?? "",
  ];
  const store = secretStore(env, secretsDir);
  collectErrors([
    () => requireFolder(settings.secretsDir.key, secretsDir),
    () => requireFolder(settings.providersDir.key, providersDir),
    () => {
      const providers = registeredProviders({ providers: ids, providersDir });
      collectErrors(providers.map((each) => () => usableSecrets(each, store, secretsDir, env)));
    },
    () => store.personalDataKeysThere(dataDir),
  ]);
}

/** The provider's secrets; null if it has none. Throws a `ConfigError` if its scheme cannot use one of them. */
export function usableSecrets(
  { id, signature }: Pick<Provider, "id" | "signature">,
  store: SecretStore,
  secretsDir: string,
  env: Readonly<Record<string, string | undefined>>,
): Secrets | null {
  const secrets = store.webhookSecrets(id);
  const places = secretPlaces(id, secretsDir);
  for (const role of ["current", "previous"] as const) {
    const secret = secrets?.[role] ?? null;
    if (secret === null) continue;
    const { variable, file } = places[role];
    try {
      verifier(signature, { current: secret, previous: null });
    } catch (error) {
      const rule = errorMessage(error);
      throw new ConfigError(`${env[variable] === undefined ? file : variable} ${rule}`);
    }
  }
  return secrets;
}

/** Pairs of providers with the same secret, current or previous: a request for one would verify at the other. */
export function equalSecrets(
  store: Pick<SecretStore, "webhookSecrets">,
  providers: readonly Pick<Provider, "id" | "signature">[],
): readonly (readonly [string, string])[] {
  const holders = providers
    .filter(({ signature }) => hasSharedSecret(signature))
    .map(({ id }) => {
      const secrets = Object.values(store.webhookSecrets(id) ?? {});
      return { id, secrets: secrets.filter((secret) => secret !== null) };
    });
  return holders.flatMap((one, index) =>
    holders
      .slice(index + 1)
      .filter((other) => other.secrets.some((secret) => one.secrets.includes(secret)))
      .map((other) => [one.id, other.id] as const),
  );
}

function dataKey({ source, text }: FoundText): Uint8Array {
  try {
    return base64Key(text.trim());
  } catch (error) {
    throw new ConfigError(`${source} must be ${errorMessage(error)}`);
  }
}

/** The file of the key for personal data if none is configured. */
export function personalDataKeyFile(dataDir: string): string {
  return join(dataDir, "personal_data_key");
}

/** The file of the key for access tokens if none is configured. */
export function tokenKeyFile(dataDir: string): string {
  return join(dataDir, "jwt_secret");
}

/** The key for access tokens: the configured one, or one that is created once and stored in the data folder. */
export function tokenKey(configured: string | null, dataDir: string): Uint8Array {
  if (configured !== null) return Buffer.from(configured);
  const file = tokenKeyFile(dataDir);
  const key = createdOnce(file, "hex");
  if (key.length < 32)
    throw new ConfigError(
      `${file} is too short for a key. Remove it, and the next start creates a new one.`,
    );
  return Buffer.from(key);
}

/** 32 random bytes as text, created on the first call and stored in `file`. */
function createdOnce(file: string, encoding: "hex" | "base64"): string {
  if (!existsSync(file)) {
    makePrivateFolder(dirname(file));
    makePrivately(file, Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString(encoding));
  }
  return readFileSync(file, "utf8").trim();
}
