import type { Clock } from "../../base/clock.ts";
import { type Context, requireAdmin } from "../../base/context.ts";
import { errorMessage } from "../../base/errors.ts";
import { lazy } from "../../base/lazy.ts";
import { invalid } from "../../base/validation.ts";
import type { Storage } from "../../db/storage.ts";
import type { AuditAction } from "../../identity/audit/audit-entry.ts";
import type { Audit } from "../../identity/audit/audit.ts";
import type { CallerLimiter } from "../../identity/limiter.ts";
import type { Log } from "../../telemetry/log.ts";
import type { SecretUse } from "../model/secret-use.ts";
import type { Acknowledgement } from "../model/webhook-request.ts";
import { removeProviderFile } from "../providers/files/folder.ts";
import type { Provider } from "../providers/provider.ts";
import { type Registered, type Registry, requireRegistered } from "../providers/registry.ts";
import type { Receive } from "../receive/receive.ts";
import { schemeName } from "../signatures/scheme-name.ts";
import type { SecretRole } from "../signatures/signed-request.ts";

import { readCatalogue, secretKindOf, textsOf } from "./catalogue-entries.ts";
import { chosenFile, notWritable, providerOf, storeFile, unavailable } from "./new-provider.ts";
import type { Catalogue, ProviderSetup, ProviderSetupWithSecret } from "./onboarding.schema.ts";
import { readNewProvider, readNewSecret, readTestEvent } from "./provider-input.ts";
import {
  type NewSecret,
  newSecret,
  type ProviderSecrets,
  requireNoVariable,
  secretToKeep,
} from "./provider-secrets.ts";
import { canSign, type SendTest, testEvent } from "./test-event.ts";

/** Adds providers and connects them. For admins: all throw `insufficient-scope`. */
export interface Onboarding {
  catalogue(ctx: Context): Promise<Catalogue>;
  /** Throws `unknown-provider`. */
  read(ctx: Context, id: string): Promise<ProviderSetup>;
  /**
   * Stores the secret, if there is one, and the file, then loads both. If anything fails, nothing has changed. Throws `invalid-body`,
   * `validation-failed` and, if a folder cannot be written or another file is invalid, `unavailable`.
   */
  add(ctx: Context, body: unknown): Promise<ProviderSetupWithSecret>;
  /**
   * Stores and loads a secret. Of the former ones, that which verified a request last stays accepted. Throws as `add`
   * does, and `unknown-provider`.
   */
  setSecret(ctx: Context, id: string, body: unknown): Promise<ProviderSetupWithSecret>;
  /** Signs a sample as the service would, and receives it. Throws `unknown-provider`, `too-many-tests` and `validation-failed`. */
  test(ctx: Context, id: string, body: unknown, from: SendTest): Promise<Acknowledgement>;
}

export interface OnboardingParts {
  readonly registry: Registry;
  readonly secrets: ProviderSecrets;
  /** When requests matched a provider's secrets, up to now. */
  readonly secretUses: (provider: Provider["id"]) => Promise<readonly SecretUse[]>;
  /** Where provider files are. */
  readonly folder: string;
  /** The ids that a provider file cannot have. */
  readonly reservedIds: readonly string[];
  readonly publicUrl: string | null;
  /** Reads all provider files and secrets again. Throws if one is invalid; everything then stays as it is. */
  readonly reload: () => void;
  readonly receive: Receive;
  readonly tests: CallerLimiter;
  readonly storage: Storage;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly log: Log;
}

export function onboarding(parts: OnboardingParts): Onboarding {
  const { registry, secrets, folder, reservedIds, publicUrl, receive, storage, audit, clock, log } =
    parts;
  const catalogue = lazy(readCatalogue);

  const find = (id: string) => requireRegistered(registry, id);

  /** Before the action: what cannot be recorded is not done. */
  async function record(ctx: Context, action: AuditAction, id: string, detail?: string) {
    await storage.atomically(audit.entry(ctx, action, id, detail));
    log.info(
      { provider: id, actor: ctx.actor.id, requestId: ctx.requestId },
      action.replaceAll(/[._]/g, " "),
    );
  }

  function requireFree(id: string): void {
    if (reservedIds.includes(id)) {
      const detail = `${id} is reserved. Choose another name.`;
      throw invalid("/id", detail);
    }
    if (registry.get(id) !== undefined) throw invalid("/id", `${id} is registered already`);
  }

  /** `kept`: the former secret that stays accepted; null for a first secret. */
  function store(id: string, added: NewSecret, kept: SecretRole | null): void {
    try {
      // First: without its other half, a public key would be of no use.
      if (added.privateKey !== null) secrets.createPrivateKey(id, added.privateKey);
      if (kept === null) secrets.createWebhookSecret(id, added.secret);
      else secrets.storeWebhookSecret(id, added.secret, kept);
    } catch (error) {
      throw notWritable("SECRETS_DIR", error);
    }
  }

  async function setupOf({ provider, secrets: current }: Registered): Promise<ProviderSetup> {
    const { id, displayName, signature, samples } = provider;
    const path = `/webhooks/${id}${signature.kind === "url" ? "/{secret}" : ""}`;
    const times = (await parts.secretUses(id)).map(({ lastMatchedAt }) => lastMatchedAt.getTime());
    return {
      provider: id,
      displayName,
      signature: schemeName(signature),
      file: provider.path ?? null,
      path,
      url: publicUrl === null ? null : publicUrl + path,
      secretKind: secretKindOf(signature),
      ...textsOf(provider),
      hasSecret: current !== null,
      secretVariable: secrets.secretVariable(id),
      samples: Object.keys(samples),
      canTest: canSign(provider, current, secrets),
      verifiedAt: times.length === 0 ? null : new Date(Math.max(...times)),
    };
  }

  /** A secret that was made here is shown once; one that was entered is not. */
  async function changedSetup(
    id: string,
    added: NewSecret | null,
  ): Promise<ProviderSetupWithSecret> {
    const madeSecret = added?.isMade === true ? added.secret : null;
    return { ...(await setupOf(find(id))), madeSecret };
  }

  return {
    async catalogue(ctx) {
      requireAdmin(ctx);
      return { data: [...(await catalogue())], publicUrl };
    },

    async read(ctx, id) {
      requireAdmin(ctx);
      return setupOf(find(id));
    },

    async add(ctx, body) {
      requireAdmin(ctx);
      const input = readNewProvider(body);
      const { id, text, origin } = await chosenFile(input);
      requireFree(id);
      const provider = providerOf(id, text);
      const added = newSecret(provider, input, registry);
      if (added !== null && secrets.webhookSecrets(id) !== null) {
        const detail = `A secret for ${id} is already stored. Leave the secret out to use it; you can replace it afterwards.`;
        throw invalid("/secret", detail);
      }
      // What was wrong before is not the fault of the new file.
      load(parts, "Nothing was changed.");
      await record(ctx, "provider.added", id, origin);
      // From here to the end without an await, so that nothing else changes the files.
      requireFree(id);
      if (added !== null) store(id, added, null);
      let path: string | null = null;
      try {
        path = storeFile(folder, id, text);
        load(parts, "Nothing was changed.");
      } catch (error) {
        if (path !== null) removeProviderFile(path);
        if (added !== null) secrets.removeWebhookSecret(id);
        throw error;
      }
      return changedSetup(id, added);
    },

    async setSecret(ctx, id, body) {
      requireAdmin(ctx);
      const { provider } = find(id);
      const input = readNewSecret(body);
      requireNoVariable(secrets, id);
      const added = newSecret(provider, input, registry);
      const uses = await parts.secretUses(id);
      load(parts, "Nothing was changed.");
      await record(ctx, "provider.secret_changed", id);
      if (added !== null) store(id, added, secretToKeep(find(id), added.secret, uses));
      load(parts, "The secret is stored, but not loaded: correct this and send SIGHUP.");
      return changedSetup(id, added);
    },

    async test(ctx, id, body, from) {
      requireAdmin(ctx);
      const registered = find(id);
      parts.tests.count(ctx);
      const { event } = readTestEvent(body);
      const base = publicUrl ?? from.origin;
      const sending = { ...from, base, nowMs: clock.now() };
      const send = await testEvent(receive, registered, secrets, event, sending);
      await record(ctx, "provider.tested", id, event);
      return send(ctx.requestId);
    },
  };
}

/** Loads all files and secrets. Throws `unavailable` that names what is invalid, and says what became of the request. */
function load({ reload }: Pick<OnboardingParts, "reload">, outcome: string): void {
  try {
    reload();
  } catch (error) {
    const reason = errorMessage(error).split("\n", 1)[0];
    throw unavailable(`The providers cannot be loaded: ${reason}. ${outcome}`, error);
  }
}
