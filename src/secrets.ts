import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

import { ConfigError } from "./config.ts";
import type { SecretRole, Secrets } from "./webhooks/signature.ts";

/** Where webhook secrets come from: the environment first, then one file each. */
export interface SecretStore {
  /** The provider's secrets; null when it has none yet. Throws a `ConfigError` on an empty one. */
  webhookSecrets(provider: string): Secrets | null;
  /**
   * Stores a provider's secret as a file of mode 0600 and returns its path. A secret that the file
   * held before is kept as the previous one, so that deliveries signed with it still verify.
   */
  storeWebhookSecret(provider: string, secret: string): string;
  /**
   * The keys for personal data: `PERSONAL_DATA_KEY` or the file `personal_data_key`, and the ones before
   * it, separated by commas, as `…_PREVIOUS`. Base64 of 32 bytes each. When there is none, one is made
   * once and kept in `dataDir`.
   */
  personalDataKeys(dataDir: string): KeyRing;
}

/** The first key seals, all of them open. */
export type KeyRing = readonly [Uint8Array, ...Uint8Array[]];

/** Where a secret is looked for: the variable wins over the file. */
export interface SecretPlace {
  readonly variable: string;
  readonly file: string;
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
  function read({ variable, file }: SecretPlace): string | null {
    const value = env[variable];
    if (value !== undefined) return notEmpty(value, `${variable} is empty`);
    if (!existsSync(file)) return null;
    // Editors and `echo` end files with a newline that nobody means to be part of the secret.
    return notEmpty(readFileSync(file, "utf8").trim(), `The secret file ${file} is empty`);
  }
  return {
    webhookSecrets(provider) {
      const places = secretPlaces(provider, secretsDir);
      const current = read(places.current);
      const previous = read(places.previous);
      return current === null ? null : { current, previous };
    },
    storeWebhookSecret(provider, secret) {
      const { current, previous } = secretPlaces(provider, secretsDir);
      mkdirSync(secretsDir, { recursive: true, mode: 0o700 });
      const before = existsSync(current.file) ? readFileSync(current.file, "utf8").trim() : "";
      // In this order a crash in between leaves the old secret in force.
      if (before !== "" && before !== secret) writePrivately(previous.file, before);
      writePrivately(current.file, secret);
      return current.file;
    },
    personalDataKeys(dataDir) {
      const place = (name: string) => ({
        variable: name.toUpperCase(),
        file: join(secretsDir, name),
      });
      const current =
        read(place("personal_data_key")) ?? madeOnce(personalDataKeyFile(dataDir), "base64");
      const previous = read(place("personal_data_key_previous"))?.split(",") ?? [];
      return [dataKey(current), ...previous.map(dataKey)];
    },
  };
}

function notEmpty(secret: string, otherwise: string): string {
  if (secret === "") throw new ConfigError(`${otherwise}: set it, or remove it`);
  return secret;
}

/** Pairs of providers that share a secret: a delivery of one would verify at the other. */
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

const personalDataKeyBytes = 32;

function dataKey(text: string): Uint8Array {
  const key = Buffer.from(text.trim(), "base64");
  if (key.length === personalDataKeyBytes) return key;
  throw new ConfigError(
    `PERSONAL_DATA_KEY must be the base64 of ${personalDataKeyBytes} bytes: openssl rand -base64 32 makes one`,
  );
}

/** Where the key for personal data is kept when none is configured. */
export function personalDataKeyFile(dataDir: string): string {
  return join(dataDir, "personal_data_key");
}

/** Where the key for access tokens is kept when none is configured. */
export function tokenKeyFile(dataDir: string): string {
  return join(dataDir, "jwt_secret");
}

/** The key for access tokens: as configured, or made once and kept in the data folder. */
export function tokenKey(configured: string | null, dataDir: string): Uint8Array {
  if (configured !== null) return Buffer.from(configured);
  const file = tokenKeyFile(dataDir);
  const key = madeOnce(file, "hex");
  if (key.length < 32) throw new ConfigError(`${file} is too short to be a key: remove it`);
  return Buffer.from(key);
}

/** 32 random bytes as text, made on the first call and kept in `file`. */
function madeOnce(file: string, encoding: "hex" | "base64"): string {
  if (!existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    makePrivately(file, Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString(encoding));
  }
  return readFileSync(file, "utf8").trim();
}

/** Writes whole or not at all, readable by the owner only. */
function writePrivately(file: string, content: string): void {
  renameSync(draftOf(file, content), file);
}

/**
 * The same, but leaves a file alone that another process made in this moment: `skyhook serve` and
 * `skyhook token` started together must end up with one key.
 */
function makePrivately(file: string, content: string): void {
  const draft = draftOf(file, content);
  try {
    linkSync(draft, file);
  } catch {
    // It is there by now, or the file system has no links and a rename must do.
    if (!existsSync(file)) renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}

function draftOf(file: string, content: string): string {
  const draft = `${file}.${process.pid}.tmp`;
  writeFileSync(draft, content, { mode: 0o600 });
  chmodSync(draft, 0o600);
  return draft;
}
