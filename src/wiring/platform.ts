import type { Clock } from "../base/clock.ts";
import type { MakeId } from "../base/ids.ts";
import type { KeyRing } from "../base/sealing.ts";
import type { Config } from "../config/config.ts";
import type { SecretStore } from "../config/secrets.ts";
import { databaseFile, openStorage } from "../db/open.ts";
import { storageMetrics } from "../db/storage-metrics.ts";
import type { Storage } from "../db/storage.ts";
import { type Backlog, sharedBacklog } from "../outbound/model/backlog.ts";
import { schema } from "../schema/schema.ts";
import type { Log, ProgramLog } from "../telemetry/log.ts";
import { createMetrics, type Metrics } from "../telemetry/metrics.ts";
import { logMetrics, processMetrics } from "../telemetry/process-metrics.ts";
import type { Tracer } from "../telemetry/tracing/tracer.ts";
import { commitSpan, spanCounter, tracing } from "../telemetry/tracing/tracing.ts";

/** The sources of time, ids and randomness. Tests supply their own. */
export interface Surroundings {
  readonly clock: Clock;
  readonly makeId: MakeId;
  /** In [0, 1). */
  readonly random: () => number;
}

/** What every room is built on. */
export interface Platform extends Surroundings {
  readonly config: Config;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Null if traces are off. */
  readonly tracer: Tracer | null;
  readonly storage: Storage;
  /** Shared by all that show it. */
  readonly readBacklog: () => Promise<Backlog>;
  /** Seals personal data, the secrets of destinations and sign-ins. */
  readonly keys: KeyRing;
}

/** How long a stop waits for the trace collector. Spans not exported by then are lost. */
const tracePatienceMs = 1_000;

/** Opens the database, the metrics and the traces. */
export async function openPlatform(
  config: Config,
  secrets: SecretStore,
  log: ProgramLog,
  surroundings: Surroundings,
) {
  const metrics = createMetrics();
  const ofProcess = processMetrics(metrics);
  const ofStorage = storageMetrics(metrics, databaseFile(config.databaseUrl));
  logMetrics(metrics, log.dropped);
  const tracer = await tracing(config, {
    log,
    now: () => surroundings.clock.now(),
    count: spanCounter(metrics),
  });
  const storage = await openStorage(schema, config.databaseUrl, config.databaseLimits, {
    warning: (line) => log.warn(line),
    migrated: (migrations) => log.info({ steps: migrations }, "database migrated"),
    transactionWaits: () => (tracer === null ? null : commitSpan(tracer)),
    groupCommitted: (seconds, transactions) => ofStorage.committed(seconds, transactions),
  });
  const platform: Platform = {
    ...surroundings,
    config,
    log,
    metrics,
    tracer,
    storage,
    readBacklog: sharedBacklog(storage, () => surroundings.clock.now()),
    // After the database: a key in its folder means that the database was there (`requireNotEmptied`).
    keys: secrets.personalDataKeys(config.dataDir),
  };
  return {
    platform,
    start: () => ofProcess.start(),
    async stop() {
      await Promise.all([storage.close(), tracer?.stop(tracePatienceMs)]);
      ofProcess.stop();
    },
  };
}
