import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { ConfigError } from "./config.ts";
import type { Secrets } from "./webhooks/signature.ts";

/** Where webhook secrets come from: the environment first, then one file each. */
export interface SecretStore {
  /** The provider's secrets; null when it has none yet. Throws a `ConfigError` on an empty one. */
  webhookSecrets(provider: string): Secrets | null;
  /** Stores a provider's secret as a file of mode 0600 and returns its path. */
  storeWebhookSecret(provider: string, secret: string): string;
}

/**
 * A secret is `TASK_TRACKER_WEBHOOK_SECRET` in the environment, or the file
 * `task_tracker_webhook_secret` in `secretsDir`; with `_PREVIOUS` / `_previous` for the one before.
 */
export function secretStore(
  env: Readonly<Record<string, string | undefined>>,
  secretsDir: string,
): SecretStore {
  function read(name: string): string | null {
    const key = name.toUpperCase();
    const value = env[key];
    if (value !== undefined) return notEmpty(value, `${key} is empty`);
    const file = join(secretsDir, name);
    if (!existsSync(file)) return null;
    // Editors and `echo` end files with a newline that nobody means to be part of the secret.
    return notEmpty(readFileSync(file, "utf8").trim(), `The secret file ${file} is empty`);
  }
  return {
    webhookSecrets(provider) {
      const current = read(`${provider}_webhook_secret`);
      const previous = read(`${provider}_webhook_secret_previous`);
      return current === null ? null : { current, previous };
    },
    storeWebhookSecret(provider, secret) {
      mkdirSync(secretsDir, { recursive: true, mode: 0o700 });
      const file = join(secretsDir, `${provider}_webhook_secret`);
      writePrivately(file, secret);
      return file;
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

/** The key for access tokens: as configured, or made once and kept in the data folder. */
export function tokenKey(configured: string | null, dataDir: string): Uint8Array {
  if (configured !== null) return Buffer.from(configured);
  const file = join(dataDir, "jwt_secret");
  if (!existsSync(file)) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    writePrivately(file, Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("hex"));
  }
  const key = readFileSync(file, "utf8").trim();
  if (key.length < 32) throw new ConfigError(`${file} is too short to be a key: remove it`);
  return Buffer.from(key);
}

/** Writes whole or not at all, readable by the owner only. */
function writePrivately(file: string, content: string): void {
  const draft = `${file}.${process.pid}.tmp`;
  writeFileSync(draft, content, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, file);
}
