import { logAccess } from "../../../config/api-access.ts";
import type { Config, Environment } from "../../../config/config.ts";
import { secretStore } from "../../../config/secrets.ts";
import type { Storage } from "../../../db/storage.ts";
import type { ReconciliationStatus } from "../../../inbound/model/reconciliation.ts";
import { reconciliationStatus } from "../../../inbound/provider-status/provider-status.ts";
import { providerLogs } from "../../../inbound/reconcile/provider-logs.ts";
import { ago } from "../../kit/durations.ts";

import { type Finding, good, odd } from "./finding.ts";

/** Reports for each provider whose log is compared whether that works. */
export async function checkReconciliation(
  storage: Storage,
  config: Config,
  env: Environment,
): Promise<readonly Finding[]> {
  const secrets = secretStore(env, config.secretsDir);
  const configured = providerLogs.filter(
    ({ provider }) =>
      config.providers.includes(provider) && logAccess(provider, config, secrets) !== null,
  );
  return Promise.all(
    configured.map(async ({ provider, variables }) => {
      const about = `reconcile ${provider}`;
      if (provider === "code_host" && config.codeHostHook === null) {
        const [, hook] = variables;
        return good(about, `off: set ${hook} to recover deliveries that never arrived`);
      }
      return finding(about, await reconciliationStatus(storage, provider), config);
    }),
  );
}

function finding(
  about: string,
  { checkedAt, succeededAt, pausedUntil, error, recovered }: ReconciliationStatus,
  { reconcileMinutes }: Config,
): Finding {
  const now = Date.now();
  const since = (time: Date | null) => (time === null ? "never" : ago(now - time.getTime()));
  if (error !== null) return odd(about, `failed ${since(checkedAt)}: ${error}`);
  if (pausedUntil !== null && pausedUntil.getTime() > now) {
    return odd(about, `the API's rate limit is reached until ${pausedUntil.toISOString()}`);
  }
  const state = `complete ${since(succeededAt)}, ${recovered} recovered so far`;
  return good(about, reconcileMinutes === 0 ? `${state}; RECONCILE_MINUTES is 0` : state);
}
