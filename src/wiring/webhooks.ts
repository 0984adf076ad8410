import type { GuardedFetch } from "../base/guarded-fetch.ts";
import { version } from "../base/version.ts";
import { logAccess } from "../config/api-access.ts";
import { reservedIds } from "../config/providers.ts";
import type { SecretStore } from "../config/secrets.ts";
import type { Audit } from "../identity/audit/audit.ts";
import { reveals } from "../identity/audit/reveals.ts";
import type { CallerLimiter, FailureLimiter } from "../identity/limiter.ts";
import { allReconciliations } from "../inbound/model/reconciliation.sql.ts";
import { minuteMs } from "../inbound/model/webhook-count.ts";
import { secretUsesOf } from "../inbound/model/webhook-counts.sql.ts";
import { onboarding } from "../inbound/onboarding/onboarding.ts";
import { providerStatuses } from "../inbound/provider-status/provider-status.ts";
import type { CheckProvider } from "../inbound/providers/provider-filter.ts";
import type { Registry } from "../inbound/providers/registry.ts";
import type { EffectOf } from "../inbound/receive/effects.ts";
import { latePayments } from "../inbound/receive/late-payments.ts";
import { latency } from "../inbound/receive/latency.ts";
import { receiver } from "../inbound/receive/receive.ts";
import { recoverer } from "../inbound/receive/recover.ts";
import { tally } from "../inbound/receive/tally.ts";
import { webhookMetrics } from "../inbound/receive/webhook-metrics.ts";
import { providerLogOf } from "../inbound/reconcile/provider-logs.ts";
import { reconcileMetrics } from "../inbound/reconcile/reconcile-metrics.ts";
import { reconciler } from "../inbound/reconcile/reconciler.ts";
import { schedule } from "../inbound/reconcile/schedule.ts";
import { rejections } from "../inbound/rejections/rejections.ts";
import { statistics } from "../operations/statistics/statistics.ts";
import type { Outbox } from "../outbound/deliveries/outbox.ts";

import type { Platform } from "./platform.ts";

export type WebhookServices = ReturnType<typeof webhookServices>["services"];

interface Parts {
  readonly registry: Registry;
  /** Fetches what files and requests name. */
  readonly fetchUrl: GuardedFetch;
  readonly secrets: SecretStore;
  readonly limiter: FailureLimiter;
  readonly tests: CallerLimiter;
  readonly audit: Audit;
  readonly outbox: Outbox;
  readonly effectOf: EffectOf;
  readonly checkProvider: CheckProvider;
}

/** Providers and their requests: received, rejected, or recovered from the provider's log. */
export function webhookServices(
  platform: Platform,
  { registry, fetchUrl, secrets, limiter, tests, audit, outbox, effectOf, checkProvider }: Parts,
) {
  const { config, storage, clock, log, metrics, tracer, makeId, readBacklog } = platform;
  const withLog = config.providers.filter((id) => providerLogOf(id) !== undefined);
  const runs = reconcileMetrics(metrics, withLog, () => storage.all(allReconciliations, {}));
  const countedReceipts = webhookMetrics(metrics);
  countedReceipts.registered(registry.ids());
  const tallied = tally(storage, clock, log);
  const acknowledged = latency(clock);
  const rejected = rejections({
    storage,
    registry,
    reveals: reveals({ storage, audit, clock, log }),
    tests,
    checkProvider,
    log,
    clock,
    makeId,
  });
  const receiving = {
    storage,
    effectOf,
    registry,
    limiter,
    outbox,
    rejections: rejected,
    metrics: countedReceipts,
    tally: tallied,
    latency: acknowledged,
    tracer,
    log,
    clock,
    makeId,
    fetchUrl,
    adoptSecret(id: string, secret: string) {
      // Another process may have stored one since this one read them.
      if (secrets.webhookSecrets(id) === null) secrets.createWebhookSecret(id, secret);
      registry.reload();
      return registry.get(id)?.secrets?.current ?? null;
    },
  };
  const receive = receiver(receiving);
  const recover = recoverer(receiving);
  const late = latePayments({ storage, registry, effectOf, clock, log });
  const intervalMs = config.reconcileMinutes * minuteMs;
  const reconciling = reconciler({
    storage,
    registry,
    recover,
    accessOf: (id) => logAccess(id, config, secrets),
    metrics: runs,
    intervalMs,
    retentionDays: config.eventRetentionDays,
    clock,
    log,
  });
  const reconciliations = schedule({
    reconciler: reconciling,
    storage,
    registry,
    intervalMs,
    clock,
    log,
  });

  /** Reads all provider files and webhook secrets again. Throws if one is invalid or missing; everything then stays as it is. */
  function reload(): readonly string[] {
    const changed = registry.reload();
    countedReceipts.registered(registry.ids());
    late.wake();
    return changed;
  }

  const services = {
    receive,
    recover,
    reconciler: reconciling,
    rejections: rejected,
    providers: providerStatuses(storage, registry, (id) => reconciling.isConfigured(id), clock),
    onboarding: onboarding({
      registry,
      secrets,
      async secretUses(provider) {
        await tallied.write();
        return storage.all(secretUsesOf, { provider });
      },
      folder: config.providersDir,
      reservedIds,
      publicUrl: config.publicUrl,
      reload,
      receive,
      tests,
      storage,
      audit,
      clock,
      log,
    }),
    statistics: statistics({ storage, latency: acknowledged, readBacklog, version }),
    registered: () => [...registry],
    reload,
  };
  return {
    services,
    start() {
      reconciliations.start();
      late.start();
    },
    async stop() {
      await Promise.all([reconciliations.stop(), late.stop()]);
    },
    /** Writes the counts that are in memory. */
    flush: () => tallied.stop(),
  };
}
