import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { readSetting } from "./config.ts";
import { collectErrors, ConfigError } from "./errors.ts";
import { base64Key } from "./parsers.ts";
import { type Found, readSecretFile, requireText } from "./secret-file.ts";
import { settings } from "./settings.ts";
import { makePrivately, writePrivately } from "../base/private-file.ts";
import type { KeyRing } from "../booking/personal-data/personal-data.ts";
import type { SecretRole, Secrets } from "../gateway/signatures/signature.ts";

/** Reads secrets from the environment or, if a variable is not set, from one file per secret. */
export interface SecretStore {
  /** The provider's secrets; null if it has none. Throws a `ConfigError` if one is empty. */
  webhookSecrets(provider: string): Secrets | null;
  /**
   * Stores a provider's secret as a file of mode 0600 and returns its path. The file's former secret
   * becomes the previous one, so that deliveries signed with it still verify.
   */
  storeWebhookSecret(provider: string, secret: string): string;
  /** Stores a provider's first secret as a file of mode 0600. An existing file is never replaced. */
  createWebhookSecret(provider: string, secret: string): void;
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
export interface PersonalDataKeyPlace {
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
  function find({ variable, files }: PersonalDataKeyPlace): Found | null {
    const value = env[variable];
    if (value !== undefined) return { source: variable, text: requireText(value, variable) };
    for (const file of files) {
      const found = readSecretFile(file);
      if (found !== null) return found;
    }
    return null;
  }
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
    storeWebhookSecret(provider, secret) {
      const { current, previous } = secretPlaces(provider, secretsDir);
      mkdirSync(secretsDir, { recursive: true, mode: 0o700 });
      const before = existsSync(current.file) ? readFileSync(current.file, "utf8").trim() : "";
      // In this order, a crash between the two writes leaves the old secret as the current one.
      if (before !== "" && before !== secret) writePrivately(previous.file, before);
      writePrivately(current.file, secret);
      return current.file;
    },
    createWebhookSecret(provider, secret) {
      mkdirSync(secretsDir, { recursive: true, mode: 0o700 });
      makePrivately(secretPlaces(provider, secretsDir).current.file, secret);
    },
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

/** Throws a `ConfigError` that names every invalid secret of a server. Creates no secrets. */
export function requireSecrets(env: Readonly<Record<string, string | undefined>>): void {
  const [secretsDir, dataDir, providers] = [
    readSetting(settings.secretsDir, env) ?? "",
    readSetting(settings.dataDir, env) ?? "",
    readSetting(settings.providers, env) ?? [],
  ];
  const store = secretStore(env, secretsDir);
  collectErrors([
    ...providers.map((id) => () => store.webhookSecrets(id)),
    () => store.personalDataKeysThere(dataDir),
  ]);
}

/** A webhook secret shorter than this can be guessed. */
export const leastSecretLength = 16;

/** Pairs of providers with the same secret: a delivery for one would verify at the other. */
export function equalSecrets(
  store: SecretStore,
  providers: readonly string[],
): readonly (readonly [string, string])[] {
  const secrets = providers.map((id) => ({ id, secret: store.webhookSecrets(id)?.current }));
  return secrets.flatMap((one, index) =>
    secrets
      .slice(index + 1)
      .filter((other) => one.secret !== undefined && other.secret === one.secret)
      .map((other) => [one.id, other.id] as const),
  );
}

function dataKey({ source, text }: Found): Uint8Array {
  try {
    return base64Key(text.trim());
  } catch (error) {
    throw new ConfigError(`${source} must be ${error instanceof Error ? error.message : "valid"}`);
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
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    makePrivately(file, Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString(encoding));
  }
  return readFileSync(file, "utf8").trim();
}
