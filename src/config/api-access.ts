import type { LogAccess } from "../inbound/reconcile/provider-log.ts";

import type { Config } from "./config.ts";
import type { SecretStore } from "./secrets.ts";

/** How to read a provider's log, with the token as it is now. Null if a setting that it needs is not set. */
export function logAccess(
  provider: string,
  { codeHostApiUrl, codeHostHook, paymentProcessorApiUrl }: Config,
  secrets: SecretStore,
): LogAccess | null {
  const urls: Partial<Record<string, string>> = {
    code_host: codeHostApiUrl,
    payment_processor: paymentProcessorApiUrl,
  };
  const apiUrl = urls[provider];
  const token = apiUrl === undefined ? null : secrets.apiToken(provider);
  if (apiUrl === undefined || token === null) return null;
  return { apiUrl, token, source: provider === "code_host" ? codeHostHook : null };
}
