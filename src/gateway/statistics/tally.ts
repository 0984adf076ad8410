import type { Cancel, Clock } from "../../base/clock.ts";
import type { Log } from "../../telemetry/log.ts";
import { type Write, write } from "../../db/statement.ts";
import { addDeliveries, noteSecretUse } from "./statistics.sql.ts";
import type { Storage } from "../../db/storage.ts";
import type { SecretUse } from "../secret-use.ts";

import { type DeliveryCount, minuteOf, spansMinutes, type Verdict } from "../delivery-count.ts";

/**
 * Counts in memory what deliveries came to, and adds it to the database every few seconds: a delivery
 * costs an increment, and several instances add up. What was counted since then dies with the process.
 */
export interface Tally {
  received(provider: MinuteCount["provider"], verdict: Verdict): void;
  /** A secret matched, by its mark. */
  matched(provider: SecretUse["provider"], secret: SecretUse["secret"]): void;
  /** Writes what is left. */
  stop(): Promise<void>;
}

/** What is counted, before it is written for each span. */
export type MinuteCount = Omit<DeliveryCount, "spanMinutes">;

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

const flushIntervalMs = 2_000;
/** Kept while the database cannot be written: days of minutes. More is dropped, and said so. */
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

  function note(use: SecretUse): void {
    const key = `${use.provider} ${use.secret}`;
    const firstMatchedAt = uses.get(key)?.firstMatchedAt ?? use.firstMatchedAt;
    uses.set(key, { ...use, firstMatchedAt });
  }

  /** A timer runs only while there is something to write. */
  function arm(): void {
    cancel ??= clock.after(flushIntervalMs, () => {
      cancel = null;
      flushing = flush();
    });
  }

  async function flush(): Promise<void> {
    const [writtenCounts, writtenUses] = [counts, uses];
    counts = new Map();
    uses = new Map();
    try {
      await storage.atomically(
        ...countSteps([...writtenCounts.values()]),
        ...inOrder(writtenUses).map((use) => write(noteSecretUse, use)),
      );
    } catch (error) {
      log.warn({ err: error }, "delivery counts could not be written; trying again");
      keep(writtenCounts, writtenUses);
    }
  }

  /** Puts back what could not be written, under what was counted since. */
  function keep(oldCounts: typeof counts, oldUses: typeof uses): void {
    const since = { counts, uses };
    counts = oldCounts;
    uses = oldUses;
    for (const count of since.counts.values()) add(count);
    for (const use of since.uses.values()) note(use);
    if (counts.size > maxCounts) {
      log.error({ counts: counts.size }, "delivery counts were dropped: the database takes none");
      counts = new Map();
    }
    arm();
  }

  return {
    received(provider, verdict) {
      add({ minute: minuteOf(clock.now()), provider, verdict, deliveries: 1 });
      arm();
    },
    matched(provider, secret) {
      const now = new Date(clock.now());
      note({ provider, secret, firstMatchedAt: now, lastMatchedAt: now });
      arm();
    },
    async stop() {
      await flushing;
      cancel?.();
      if (counts.size + uses.size > 0) await flush();
      cancel?.();
    },
  };
}

/**
 * The steps that add counts to their minutes and their hours. Each row comes once and all come in one order,
 * so that instances that write at the same time wait for one another and never in a circle.
 */
export function countSteps(counts: readonly MinuteCount[]): readonly Write<never>[] {
  const rows = new Map<string, DeliveryCount>();
  for (const spanMinutes of spansMinutes) {
    for (const { minute, provider, verdict, deliveries } of counts) {
      const start = minute - (minute % spanMinutes);
      const key = `${spanMinutes} ${start} ${provider} ${verdict}`;
      const sum = (rows.get(key)?.deliveries ?? 0) + deliveries;
      rows.set(key, { spanMinutes, minute: start, provider, verdict, deliveries: sum });
    }
  }
  return inOrder(rows).map((row) => write(addDeliveries, row));
}

function inOrder<Row>(rows: ReadonlyMap<string, Row>): readonly Row[] {
  return [...rows].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
}
