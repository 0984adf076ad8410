import { type Config, type Environment } from "../../../config/config.ts";
import { ConfigError } from "../../../config/errors.ts";
import { registeredProviders } from "../../../config/providers.ts";
import { secretStore } from "../../../config/secrets.ts";
import type { Storage } from "../../../db/storage.ts";
import type { Rotation } from "../../../inbound/provider-status/provider-status.schema.ts";
import { providerStatus } from "../../../inbound/provider-status/provider-status.ts";
import { InvalidSecret, type Registry, registry } from "../../../inbound/providers/registry.ts";
import { ago } from "../../kit/durations.ts";

import { type Finding, good, odd } from "./finding.ts";

/** Reports for each provider with a previous secret whether it can be removed. */
export async function checkRotation(
  storage: Storage,
  config: Config,
  env: Environment,
): Promise<readonly Finding[]> {
  const store = secretStore(env, config.secretsDir);
  let registered: Registry;
  try {
    registered = registry({
      providers: () => registeredProviders(config),
      secretsOf: (id) => store.webhookSecrets(id),
    });
  } catch (error) {
    // An invalid secret or file: `checkSecrets` and `checkProviderFiles` report it.
    if (error instanceof ConfigError || error instanceof InvalidSecret) return [];
    throw error;
  }
  const rotating = [...registered].filter(({ secrets }) => secrets && secrets.previous !== null);
  const now = Date.now();
  return Promise.all(
    rotating.map(async (one) => {
      const { provider, secrets } = await providerStatus(storage, one, now);
      return finding(provider, secrets, now);
    }),
  );
}

function finding(provider: string, { current, previous }: Rotation, nowMs: number): Finding {
  const about = `rotation ${provider}`;
  const since = (time: Date | null) =>
    time === null ? "never used" : `last used ${ago(nowMs - time.getTime())}`;
  const used = `previous secret ${since(previous.lastMatchedAt)}`;
  if (previous.safeToRemove) return odd(about, `${used}: safe to remove`);
  return good(about, `${used}, current one ${since(current.lastMatchedAt)}: keep both for now`);
}
