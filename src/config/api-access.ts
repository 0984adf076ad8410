import type { ApiAccess } from "../inbound/provider-api/provider-api.ts";
import type { LogAccess } from "../inbound/reconcile/provider-log.ts";

import type { Config } from "./config.ts";
import type { SecretStore } from "./secrets.ts";

/** How to reach a provider's API, with the token as it is now. Null if it has none, or no token is set. */
function apiAccess(
  provider: string,
  { codeHostApiUrl, paymentProcessorApiUrl }: Config,
  secrets: SecretStore,
): ApiAccess | null {
  const urls: Partial<Record<string, string>> = {
    code_host: codeHostApiUrl,
    payment_processor: paymentProcessorApiUrl,
  };
  const apiUrl = urls[provider];
  const token = apiUrl === undefined ? null : secrets.apiToken(provider);
  return apiUrl === undefined || token === null ? null : { apiUrl, token };
}

/** How to read a provider's log. Null if a setting that it needs is not set. */
export function logAccess(
  provider: string,
  config: Config,
  secrets: SecretStore,
): LogAccess | null {
  const access = apiAccess(provider, config, secrets);
  return access && { ...access, source: provider === "code_host" ? config.codeHostHook : null };
}
