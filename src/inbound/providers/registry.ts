import { AppError, errorMessage } from "../../base/errors.ts";
import { secretFingerprint } from "../model/secret-use.ts";
import { type KeyStore, noKeys } from "../signatures/key-store.ts";
import type { SecretRole, Secrets, Verify } from "../signatures/signed-request.ts";

import { providerById } from "./catalogue.ts";
import { providerVerifier } from "./provider-verifier.ts";
import type { Provider } from "./provider.ts";

/** A registered provider with its secrets and verifier, which are null while no secret is set. */
export interface Registered {
  readonly provider: Provider;
  readonly secrets: Secrets | null;
  /** Secret fingerprints, as stored in the database. Empty for a secret that is not set. */
  readonly fingerprints: Readonly<Record<SecretRole, string>>;
  readonly verify: Verify | null;
}

/** The registered providers, by id. */
export interface Registry extends Iterable<Registered> {
  get(id: string): Registered | undefined;
  /** The registered provider with this id, or the built-in one. */
  provider(id: string): Provider | undefined;
  /** The ids of the registered providers. */
  ids(): readonly Provider["id"][];
  /** Where keys that services publish come from. */
  readonly keys: KeyStore;
  /**
   * Reads all providers and secrets again and returns the providers that changed, came or went. Throws if a file is
   * invalid, or a secret is missing or invalid; everything then stays as it is.
   */
  reload(): readonly Provider["id"][];
}

/** A secret that the provider's scheme cannot use. The message names the provider, and says how the secret must be written. */
export class InvalidSecret extends Error {
  override readonly name = "InvalidSecret";
}

interface RegistryParts {
  /** Reads the providers to register; its errors propagate. */
  readonly providers: () => readonly Provider[];
  /** Reads the secrets of one; its errors propagate. */
  readonly secretsOf: (providerId: string) => Secrets | null;
  readonly keys?: KeyStore;
}

export function registry({ providers, secretsOf, keys = noKeys }: RegistryParts): Registry {
  const bindAll = () =>
    new Map(
      providers().map((provider) => [provider.id, bind(provider, secretsOf(provider.id), keys)]),
    );
  let bound = bindAll();
  return {
    get: (id) => bound.get(id),
    provider: (id) => bound.get(id)?.provider ?? providerById(id),
    ids: () => [...bound.keys()],
    keys,
    [Symbol.iterator]: () => bound.values(),
    reload() {
      const fresh = bindAll();
      for (const { provider, secrets } of fresh.values()) {
        if (secrets !== null || !bound.get(provider.id)?.secrets) continue;
        const removal =
          provider.path === undefined
            ? "remove the provider from WEBHOOK_PROVIDERS and restart"
            : `remove ${provider.path}`;
        throw new Error(
          `The secret of ${provider.id} is no longer set. Restore it, or ${removal}.`,
        );
      }
      const before = bound;
      bound = fresh;
      const ids = new Set([...before.keys(), ...fresh.keys()]);
      return [...ids].filter((id) => !isSame(before.get(id), fresh.get(id)));
    },
  };
}

/** Throws `unknown-provider`. */
export function requireRegistered(registry: Registry, id: string): Registered {
  const registered = registry.get(id);
  if (registered !== undefined) return registered;
  throw noProvider();
}

export function noProvider(): AppError {
  return new AppError("unknown-provider", "No provider with this name is registered");
}

function isSame(before: Registered | undefined, now: Registered | undefined): boolean {
  if (before === undefined || now === undefined) return false;
  return (
    before.provider.revision === now.provider.revision &&
    Bun.deepEquals(before.secrets, now.secrets)
  );
}

function bind(provider: Provider, secrets: Secrets | null, keys: KeyStore): Registered {
  const fingerprint = (secret: string | null | undefined) =>
    secret ? secretFingerprint(secret) : "";
  return {
    provider,
    secrets,
    fingerprints: {
      current: fingerprint(secrets?.current),
      previous: fingerprint(secrets?.previous),
    },
    verify: secrets === null ? null : verifierOf(provider, secrets, keys),
  };
}

/** Throws an error that names the provider, and says how its secret must be written. */
function verifierOf(provider: Provider, secrets: Secrets, keys: KeyStore): Verify {
  try {
    return providerVerifier(provider, secrets, keys);
  } catch (error) {
    const reason = errorMessage(error);
    throw new InvalidSecret(`The secret of ${provider.id} ${reason}`, { cause: error });
  }
}
