import { invalid } from "../../base/validation.ts";
import type { SecretUse } from "../model/secret-use.ts";
import type { Provider } from "../providers/provider.ts";
import type { Registered } from "../providers/registry.ts";
import { weaknessOf } from "../providers/weak-secret.ts";
import { developmentSecret } from "../signatures/development-secret.ts";
import type { SecretRole, Secrets } from "../signatures/signed-request.ts";
import { requireUsable } from "../signatures/usable-secret.ts";
import { leastSecretLength } from "../signatures/weak-secret.ts";

/** The store of webhook secrets, as far as it is needed here. */
export interface ProviderSecrets {
  webhookSecrets(provider: string): Secrets | null;
  /** The variable that sets the provider's secret, so that its file is not read; null if none does. */
  secretVariable(provider: string): string | null;
  /** The same for the provider's previous secret. */
  previousVariable(provider: string): string | null;
  createWebhookSecret(provider: string, secret: string): void;
  storeWebhookSecret(provider: string, secret: string, kept: SecretRole): string;
  removeWebhookSecret(provider: string): void;
  createPrivateKey(provider: string, pem: string): void;
  privateKey(provider: string): string | null;
}

/** A secret to store. */
export interface NewSecret {
  readonly secret: string;
  /** The private key of a test pair, PEM; null for others. */
  readonly privateKey: string | null;
  readonly isMade: boolean;
}

interface GivenSecret {
  readonly secret?: string;
  readonly makeSecret?: boolean;
}

type Signing = Pick<Provider, "id" | "displayName" | "signature" | "secretPrefix">;

/**
 * The secret that a body gives or asks for; null if neither. Throws `validation-failed` if the scheme cannot use it, or
 * others can guess or know it.
 */
export function newSecret(
  provider: Signing,
  { secret, makeSecret }: GivenSecret,
  registered: Iterable<Registered>,
): NewSecret | null {
  if (makeSecret === true) return madeSecret(provider);
  if (secret === undefined) return null;
  const text = secret.trim();
  if (text === "") throw invalid("/secret", "Enter the secret");
  requireUsable(provider.signature, text);
  requireStrong(text, provider, registered);
  return { secret: text, privateKey: null, isMade: false };
}

function requireStrong(secret: string, provider: Signing, registered: Iterable<Registered>): void {
  const weakness = weaknessOf(secret, provider, registered);
  if (weakness === null) return;
  const { displayName } = provider;
  const another = `Create another one at ${displayName}, or let Skyhook make one and enter it there.`;
  switch (weakness.reason) {
    case "short":
      throw invalid(
        "/secret",
        `The secret has fewer than ${leastSecretLength} characters, so it can be guessed. ${another}`,
      );
    case "documented":
      throw invalid(
        "/secret",
        `The secret is an example from documentation, so anyone can sign with it. Paste the one that ${displayName} shows for your webhook.`,
      );
    case "shared": {
      const { owner } = weakness;
      const detail = `${owner.displayName} (${owner.id}) has the same secret, so a webhook for one would verify at the other. ${another}`;
      throw invalid("/secret", detail);
    }
  }
}

/**
 * Which of a provider's secrets stays accepted beside a new one: the one that verified a request last, since the service
 * signs with it. If neither did, the current one.
 */
export function secretToKeep(
  { secrets, fingerprints }: Pick<Registered, "secrets" | "fingerprints">,
  added: string,
  uses: readonly SecretUse[],
): SecretRole {
  const previous = secrets?.previous ?? null;
  if (previous === null || previous === added) return "current";
  const lastMs = (role: SecretRole) =>
    uses.find(({ secret }) => secret === fingerprints[role])?.lastMatchedAt.getTime() ?? -Infinity;
  return lastMs("previous") > lastMs("current") ? "previous" : "current";
}

function madeSecret({ signature, secretPrefix }: Signing): NewSecret {
  const made = developmentSecret(signature, secretPrefix);
  if (made !== null) return { ...made, isMade: true };
  throw invalid(
    "/makeSecret",
    "Only the service can sign, so a secret cannot be made: paste what the service shows",
  );
}

/** Throws `validation-failed` if a stored secret, or the one that it replaces, would not be used. */
export function requireNoVariable(secrets: ProviderSecrets, id: string): void {
  const variable = secrets.secretVariable(id);
  if (variable !== null) {
    const detail = `The variable ${variable} sets this secret. Change it there and restart, or unset it.`;
    throw invalid("/secret", detail);
  }
  const previous = secrets.previousVariable(id);
  if (previous === null || secrets.webhookSecrets(id) === null) return;
  const detail = `The variable ${previous} sets the previous secret, so the current one would not stay accepted. Unset it and restart, then try again.`;
  throw invalid("/secret", detail);
}
