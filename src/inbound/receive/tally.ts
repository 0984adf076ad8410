import type { Cancel, Clock } from "../../base/clock.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Log } from "../../telemetry/log.ts";
import type { SecretUse } from "../model/secret-use.ts";
import { minuteOf, spansMinutes, type Verdict, type WebhookCount } from "../model/webhook-count.ts";
import { addCounts, recordSecretUse } from "../model/webhook-counts.sql.ts";

/**
 * Counts requests by verdict in memory and adds the counts to the database every few seconds. A request
 * costs one increment, and several instances add up. A crash loses the counts since the last write.
 */
export interface Tally {
  received(provider: MinuteCount["provider"], verdict: Verdict): void;
  /** Records that the secret with this fingerprint matched. */
  matched(provider: SecretUse["provider"], secret: SecretUse["secret"]): void;
  /** Writes the counts so far. If the database cannot be written, they are kept. */
  write(): Promise<void>;
  /** Writes the remaining counts. */
  stop(): Promise<void>;
}

/** The count of one minute, before it is written for each span. */
export type MinuteCount = Omit<WebhookCount, "spanMinutes">;

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

const flushIntervalMs = 2_000;
/** Maximum counts kept in memory while the database cannot be written: several days. More are dropped. */
const maxCounts = 50_000;

export function tally(storage: Storage, clock: Clock, log: Log): Tally {
  let counts = new Map<string, Mutable<MinuteCount>>();
  let uses = new Map<string, SecretUse>();
  let cancel: Cancel | null = null;
  let flushing: Promise<void> = Promise.resolve();

  function add(count: MinuteCount): void {
    const key = `${count.minute} ${count.provider} ${count.verdict}`;
    const known = counts.get(key);
    if (known === undefined) counts.set(key, { ...count });
    else known.deliveries += count.deliveries;
  }

  function recordUse(use: SecretUse): void {
    const key = `${use.provider} ${use.secret}`;
    const firstMatchedAt = uses.get(key)?.firstMatchedAt ?? use.firstMatchedAt;
    uses.set(key, { ...use, firstMatchedAt });
  }

  /** Schedules a write. No timer runs while there is nothing to write. */
  function schedule(): void {
    cancel ??= clock.after(flushIntervalMs, () => {
      cancel = null;
      flushing = flushing.then(flush);
    });
  }

  async function flush(): Promise<void> {
    if (counts.size + uses.size === 0) return;
    const [writtenCounts, writtenUses] = [counts, uses];
    counts = new Map();
    uses = new Map();
    try {
      await storage.atomically(
        ...countWrites([...writtenCounts.values()]),
        ...inOrder(writtenUses).map((use) => write(recordSecretUse, use)),
      );
    } catch (error) {
      log.warn({ err: error }, "failed to write webhook counts; retrying");
      keep(writtenCounts, writtenUses);
    }
  }

  /** Restores the counts that could not be written, and adds those counted since. */
  function keep(oldCounts: typeof counts, oldUses: typeof uses): void {
    const since = { counts, uses };
    counts = oldCounts;
    uses = oldUses;
    for (const count of since.counts.values()) add(count);
    for (const use of since.uses.values()) recordUse(use);
    if (counts.size > maxCounts) {
      log.error({ counts: counts.size }, "webhook counts dropped; the database cannot be written");
      counts = new Map();
    }
    schedule();
  }

  return {
    received(provider, verdict) {
      add({ minute: minuteOf(clock.now()), provider, verdict, deliveries: 1 });
      schedule();
    },
    matched(provider, secret) {
      const now = new Date(clock.now());
      recordUse({ provider, secret, firstMatchedAt: now, lastMatchedAt: now });
      schedule();
    },
    write() {
      flushing = flushing.then(flush);
      return flushing;
    },
    async stop() {
      await flushing;
      cancel?.();
      await flush();
      cancel?.();
    },
  };
}

/**
 * The writes that add counts to their minutes and hours. Writes each row once and in a fixed order, so that
 * concurrent instances cannot deadlock.
 */
export function countWrites(counts: readonly MinuteCount[]): readonly Write<never>[] {
  const rows = new Map<string, WebhookCount>();
  for (const spanMinutes of spansMinutes) {
    for (const { minute, provider, verdict, deliveries } of counts) {
      const start = minute - (minute % spanMinutes);
      const key = `${spanMinutes} ${start} ${provider} ${verdict}`;
      const sum = (rows.get(key)?.deliveries ?? 0) + deliveries;
      rows.set(key, { spanMinutes, minute: start, provider, verdict, deliveries: sum });
    }
  }
  return inOrder(rows).map((row) => write(addCounts, row));
}

function inOrder<Row>(rows: ReadonlyMap<string, Row>): readonly Row[] {
  return [...rows].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
}
