import type { SecretStore } from "../secrets.ts";

import type { Provider } from "./provider.ts";
import { catalogue } from "./providers.ts";
import { type SignedRequest, type Verdict, verifier } from "./signature.ts";

/** A provider that is switched on, with its verifier; null while its secret is not known. */
export interface Registered {
  readonly provider: Provider;
  readonly verify: ((request: SignedRequest) => Verdict) | null;
}

/** The providers that are switched on, by id. */
export type Registry = ReadonlyMap<string, Registered>;

/** Binds each provider to its own secrets. Throws a `ConfigError` when one is empty. */
export function registry(ids: readonly string[], secrets: SecretStore): Registry {
  const chosen = catalogue.filter((provider) => ids.includes(provider.id));
  return new Map(
    chosen.map((provider) => {
      const own = secrets.webhookSecrets(provider.id);
      const verify = own === null ? null : verifier(provider.signature, own);
      return [provider.id, { provider, verify }];
    }),
  );
}
