import { programName } from "../../../base/program-name.ts";
import { missingKey } from "../../../base/sealing.ts";
import { sealedKeys } from "../../../booking/personal-data/sealed-keys.ts";
import type { Config } from "../../../config/config.ts";
import { equalSecrets, secretPlaces, type SecretStore } from "../../../config/secrets.ts";
import type { Storage } from "../../../db/storage.ts";
import type { Registered } from "../../../inbound/providers/registry.ts";
import { canMakeSecret } from "../../../inbound/signatures/development-secret.ts";
import { hasSharedSecret } from "../../../inbound/signatures/scheme.ts";
import { isDocumentedSecret, leastSecretLength } from "../../../inbound/signatures/weak-secret.ts";
import type { Log } from "../../../telemetry/log.ts";

import { ownKeys } from "./keys.ts";

/**
 * Logs which of the loaded webhook secrets are missing, short, published, shared or ignored. Does not read them again:
 * files may have changed since.
 */
export function warnOfSecrets(
  registered: readonly Pick<Registered, "provider" | "secrets">[],
  store: Pick<SecretStore, "unreadFiles">,
  { secretsDir }: Pick<Config, "secretsDir">,
  log: Log,
): void {
  for (const { provider, secrets } of registered) {
    const { id, signature } = provider;
    const { file } = secretPlaces(id, secretsDir).current;
    if (secrets === null) {
      log.info(
        { file },
        `${id} has no webhook secret and answers 503: run \`${programName} secrets ${canMakeSecret(signature) ? "init" : `set ${id}`}\``,
      );
    }
    for (const [role, secret] of Object.entries(secrets ?? {})) {
      // A public key and the name of an account are no secrets.
      if (secret === null || !hasSharedSecret(signature)) continue;
      if (isDocumentedSecret(secret)) {
        log.warn(
          `the ${role} secret of ${id} is an example from documentation, so anyone can sign with it: set another one`,
        );
      }
      if (secret.length >= leastSecretLength) continue;
      log.warn(
        `the ${role} secret of ${id} has fewer than ${leastSecretLength} characters and can be guessed: set a longer one`,
      );
    }
    for (const unread of store.unreadFiles(id)) log.warn(notRead(unread));
  }
  const loaded = new Map(registered.map(({ provider, secrets }) => [provider.id, secrets]));
  const webhookSecrets = (id: string) => loaded.get(id) ?? null;
  const providers = registered.map(({ provider }) => provider);
  for (const [one, other] of equalSecrets({ webhookSecrets }, providers)) {
    log.warn(`${one} and ${other} have the same secret: a delivery for one verifies at the other`);
  }
}

/** The message for a secret file that is ignored because a variable sets the same secret. */
export function notRead({ variable, file }: { variable: string; file: string }): string {
  return `${file} is not read, because ${variable} is set in the environment: remove one of the two`;
}

/** Warns of keys that other instances on this database do not have. */
export function warnOfOwnKeys(config: Config, log: Log): void {
  for (const { detail } of ownKeys(config)) log.warn(detail);
}

/** Delays the check, so that it slows neither the start nor the first requests. */
const lookAfterMs = 1_000;

/** Soon after the start, logs bookings that are encrypted with missing keys. */
export function warnOfLostKeys(
  storage: Storage,
  secrets: SecretStore,
  { dataDir }: Config,
  log: Log,
): void {
  const look = async () => {
    const keys = secrets.personalDataKeysThere(dataDir);
    const { lost } = await sealedKeys(storage, keys);
    for (const { keyId, bookingId } of lost) {
      log.error(missingKey(`bookings such as ${bookingId} are`, keyId, keys));
    }
  };
  // Others report an unreadable database; a closed one means that the server stops.
  setTimeout(() => void look().catch(() => {}), lookAfterMs).unref();
}
