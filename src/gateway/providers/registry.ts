import type { Provider } from "./provider.ts";
import { catalogue } from "./catalogue.ts";
import { secretMark } from "../secret-use.ts";
import {
  type SecretRole,
  type Secrets,
  type SignedRequest,
  type Verdict,
  verifier,
} from "../signatures/signature.ts";

/** A provider that is switched on, with its verifier; null while its secret is not known. */
export interface Registered {
  readonly provider: Provider;
  readonly secrets: Secrets | null;
  /** What the secrets are told apart by in the database; empty where there is none. */
  readonly marks: Readonly<Record<SecretRole, string>>;
  readonly verify: ((request: SignedRequest) => Verdict) | null;
}

/** The providers that are switched on, by id. */
export interface Registry extends Iterable<Registered> {
  get(id: string): Registered | undefined;
  /**
   * Reads all secrets again, and returns the providers whose secrets changed. Throws when one cannot be
   * read or is gone; all of them then stay as they were.
   */
  reload(): readonly Provider["id"][];
}

/** Binds each provider to its own secrets. `secretsOf` reads them; what it throws is thrown on. */
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
          `${now.provider.id} has no secret any more: put it back, or take the provider out of WEBHOOK_PROVIDERS and start again`,
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
  const mark = (secret: string | null | undefined) => (secret ? secretMark(secret) : "");
  return {
    provider,
    secrets,
    marks: { current: mark(secrets?.current), previous: mark(secrets?.previous) },
    verify: secrets === null ? null : verifier(provider.signature, secrets),
  };
}
