import { keyIds, missingKey } from "../../../base/sealing.ts";
import { sealedKeys } from "../../../booking/personal-data/sealed-keys.ts";
import { type Config, type Environment } from "../../../config/config.ts";
import { ConfigError } from "../../../config/errors.ts";
import { personalDataKeyPlaces, secretStore } from "../../../config/secrets.ts";
import type { Storage } from "../../../db/storage.ts";
import { messageOf } from "../../kit/errors.ts";

import { bad, type Finding, good, odd } from "./finding.ts";
import { checkMode } from "./folders.ts";
import { ownKeys, personalDataKeysAt } from "./keys.ts";

/** Checks the keys for personal data. Creates none. */
export function checkPersonalDataKey(config: Config, env: Environment): readonly Finding[] {
  const about = "personal data key";
  let keys: readonly Uint8Array[];
  try {
    keys = secretStore(env, config.secretsDir).personalDataKeysThere(config.dataDir);
  } catch (error) {
    return [bad(about, messageOf(error))];
  }
  const own = ownKeys(config).find(({ variable }) => variable === "PERSONAL_DATA_KEY");
  if (own !== undefined) return [odd(about, own.detail)];
  const places = personalDataKeyPlaces(config.secretsDir, config.dataDir);
  const variables = Object.values(places).map(({ variable }) => variable);
  const found = personalDataKeysAt(config, env);
  const findings = found
    .filter((place) => !variables.includes(place))
    .flatMap((file) => checkMode(about, file) ?? []);
  if (findings.length > 0) return findings;
  if (found.length === 0) return [good(about, "created at the first start")];
  // The ids show which of several stored keys a booking needs.
  const ids = [...keyIds(keys)].map((id) => `key ${id}`);
  return [good(about, `from ${found.join(" and ")}: ${ids.join(", ")}`)];
}

/** Checks on a sample of bookings whether their personal data can be decrypted. */
export async function checkPersonalData(
  storage: Storage,
  config: Config,
  env: Environment,
): Promise<readonly Finding[]> {
  const about = "personal data";
  const keys = readableKeys(config, env);
  if (keys === null) return [];
  const { isEmpty, lost } = await sealedKeys(storage, keys);
  if (isEmpty) return [good(about, "no bookings yet")];
  if (lost.length === 0)
    return [good(about, "all sampled bookings are encrypted with available keys")];
  return lost.map(({ keyId, bookingId }) =>
    bad(about, missingKey(`bookings such as ${bookingId} are`, keyId, keys)),
  );
}

/** The keys for personal data. Null if a setting of them is invalid, which `checkPersonalDataKey` reports. */
export function readableKeys(config: Config, env: Environment): readonly Uint8Array[] | null {
  try {
    return secretStore(env, config.secretsDir).personalDataKeysThere(config.dataDir);
  } catch (error) {
    if (error instanceof ConfigError) return null;
    throw error;
  }
}
