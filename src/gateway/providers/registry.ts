import type { Provider } from "./provider.ts";
import { catalogue } from "./catalogue.ts";
import { secretFingerprint } from "../secret-use.ts";
import {
  type SecretRole,
  type Secrets,
  type SignedRequest,
  type Verification,
  verifier,
} from "../signatures/signature.ts";

/** A registered provider with its secrets and verifier, which are null while no secret is set. */
export interface Registered {
  readonly provider: Provider;
  readonly secrets: Secrets | null;
  /** Secret fingerprints, as stored in the database. Empty for a secret that is not set. */
  readonly fingerprints: Readonly<Record<SecretRole, string>>;
  readonly verify: ((request: SignedRequest) => Verification) | null;
}

/** The registered providers, by id. */
export interface Registry extends Iterable<Registered> {
  get(id: string): Registered | undefined;
  /**
   * Reads all secrets again and returns the providers whose secrets changed. Throws if a secret is missing
   * or cannot be read; the previous secrets then stay in use.
   */
  reload(): readonly Provider["id"][];
}

/** Registers the providers `ids` with their secrets. `secretsOf` reads the secrets; its errors propagate. */
export function registry(
  ids: readonly string[],
  secretsOf: (providerId: string) => Secrets | null,
): Registry {
  const chosen = catalogue.filter((provider) => ids.includes(provider.id));
  const bindAll = () =>
    new Map(chosen.map((provider) => [provider.id, bind(provider, secretsOf(provider.id))]));
  let bound = bindAll();
  return {
    get: (id) => bound.get(id),
    [Symbol.iterator]: () => bound.values(),
    reload() {
      const fresh = bindAll();
      const pairs = [...fresh.values()].map((now) => ({ now, before: bound.get(now.provider.id) }));
      for (const { now, before } of pairs) {
        if (now.secrets !== null || !before?.secrets) continue;
        throw new Error(
          `The secret of ${now.provider.id} is no longer set. Restore it, or remove the provider from WEBHOOK_PROVIDERS and restart.`,
        );
      }
      bound = fresh;
      return pairs
        .filter(({ now, before }) => !Bun.deepEquals(now.secrets, before?.secrets))
        .map(({ now }) => now.provider.id);
    },
  };
}

function bind(provider: Provider, secrets: Secrets | null): Registered {
  const fingerprint = (secret: string | null | undefined) =>
    secret ? secretFingerprint(secret) : "";
  return {
    provider,
    secrets,
    fingerprints: {
      current: fingerprint(secrets?.current),
      previous: fingerprint(secrets?.previous),
    },
    verify: secrets === null ? null : verifier(provider.signature, secrets),
  };
}
