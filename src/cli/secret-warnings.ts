import { missingKey } from "../base/sealing.ts";
import { sealedKeys } from "../booking/personal-data/sealed-keys.ts";
import type { Config } from "../config/config.ts";
import { equalSecrets, secretPlaces, type SecretStore } from "../config/secrets.ts";
import type { Storage } from "../db/storage.ts";
import type { Provider } from "../inbound/providers/provider.ts";
import { canMakeSecret } from "../inbound/signatures/development-secret.ts";
import { hasSharedSecret } from "../inbound/signatures/scheme.ts";
import { isDocumentedSecret, leastSecretLength } from "../inbound/signatures/weak-secret.ts";
import type { Log } from "../telemetry/log.ts";

import { ownKeys } from "./keys.ts";
import { programName } from "./program.ts";

/** Logs which webhook secrets are missing, short, published, shared or ignored. */
export function warnOfSecrets(
  secrets: SecretStore,
  providers: readonly Provider[],
  { secretsDir }: Config,
  log: Log,
): void {
  for (const { id, signature } of providers) {
    const { file } = secretPlaces(id, secretsDir).current;
    const found = secrets.webhookSecrets(id);
    if (found === null) {
      log.info(
        { file },
        `${id} has no webhook secret and answers 503: run \`${programName} secrets ${canMakeSecret(signature) ? "init" : `set ${id}`}\`, then kill -HUP ${process.pid}`,
      );
    }
    for (const [role, secret] of Object.entries(found ?? {})) {
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
    for (const unread of secrets.unreadFiles(id)) log.warn(notRead(unread));
  }
  for (const [one, other] of equalSecrets(secrets, providers)) {
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
