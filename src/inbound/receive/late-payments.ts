import { type BackgroundTask, backgroundTask } from "../../base/background-task.ts";
import type { Clock } from "../../base/clock.ts";
import { sha256 } from "../../base/crypto.ts";
import { firstPositionAt } from "../../base/ids.ts";
import { ownTurns } from "../../base/own-turn.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Event } from "../../event/event.ts";
import { storedReceipt } from "../../event/receipts.ts";
import type { Log } from "../../telemetry/log.ts";
import type { PaymentSource } from "../model/payment-notice.ts";
import { interpretStored } from "../providers/interpret.ts";
import type { Provider } from "../providers/provider.ts";
import type { Registry } from "../providers/registry.ts";

import { decidedEffect, type EffectOf } from "./effects.ts";
import { eventsOfType, paymentSearchOf, setEffect, setPaymentSearch } from "./late-payments.sql.ts";

interface Parts {
  readonly storage: Storage;
  readonly registry: Registry;
  readonly effectOf: EffectOf;
  readonly clock: Clock;
  readonly log: Log;
}

const batchSize = 100;
/** Between batches, so that requests run while a long history is searched. */
const ownTurn = ownTurns();
const intervalMs = 60_000;
const retryMs = 5_000;
/**
 * Searches overlap by this much. An instance whose clock is behind, or whose commit takes long, stores events with a
 * time that was searched already.
 */
const overlapMs = 60_000;

/**
 * Applies stored payments. They had no effect on receipt, because the description of their provider did not name its
 * payments then, or the instance had not reloaded it yet. Searches only events of the described types: all of them once
 * for each description, then new ones. Wake it after a reload.
 */
export function latePayments(parts: Parts): BackgroundTask {
  const { registry, clock, log } = parts;
  const searched: Searched = new Map();
  return backgroundTask(clock, async (signal) => {
    let delayMs = intervalMs;
    for (const { provider } of registry) {
      if (provider.payments === undefined || signal.aborted) continue;
      try {
        await search(parts, provider, provider.payments, searched, signal);
      } catch (error) {
        log.error({ err: error, provider: provider.id }, "failed to search payments; retrying");
        delayMs = retryMs;
      }
    }
    return delayMs;
  });
}

/** Until when this process has searched, by provider and description. */
type Searched = Map<string, number>;

async function search(
  parts: Parts,
  provider: Provider,
  payments: PaymentSource,
  searched: Searched,
  signal: AbortSignal,
): Promise<void> {
  const { storage, clock } = parts;
  const searchedUntil = new Date(clock.now());
  const source = sourceOf(payments);
  const key = { provider: provider.id, source };
  const [stored] = await storage.all(paymentSearchOf, key);
  const id = `${provider.id} ${source}`;
  const fromMs = (searched.get(id) ?? stored?.searchedUntil.getTime() ?? 0) - overlapMs;
  let isAny = false;
  for (const type of typesOf(payments)) {
    let after = firstPositionAt(fromMs) - 1;
    while (!signal.aborted) {
      await ownTurn();
      const found = await storage.all(eventsOfType, { type, after, limit: batchSize });
      isAny ||= found.length > 0;
      for (const { id, position, provider: of, effect } of found) {
        if (of === provider.id && effect === null) await apply(parts, provider, { id, position });
      }
      const last = found.at(-1);
      if (last === undefined || found.length < batchSize) break;
      after = last.position;
    }
  }
  if (signal.aborted) return;
  searched.set(id, searchedUntil.getTime());
  // Where nothing was found, a search after a restart costs nothing.
  if (isAny) await storage.atomically(write(setPaymentSearch, { ...key, searchedUntil }));
}

/** Applies the payment of an event, once on all instances: only an event without an effect gets one. */
async function apply(
  { storage, effectOf, log }: Parts,
  provider: Provider,
  { id, position }: Pick<Event, "id"> & { readonly position: number },
): Promise<void> {
  const { payment = null } =
    interpretStored(provider, await storedReceipt(storage, position)) ?? {};
  if (payment === null) return;
  const done = await decidedEffect(
    () => effectOf(payment),
    async (effect) => {
      if (effect === null) return false;
      const [set] = await storage.atomically(
        write(setEffect, { id, effect: effect.explanation }, "stop"),
        ...effect.writes({ id }),
      );
      return set.changes > 0;
    },
  );
  if (done === null) return;
  log.info({ provider: provider.id, id, ...done.effect?.logged }, "stored payment found later");
  done.effect?.committed();
}

/** The types of the events about payments, as stored with this description and before the provider listed them. */
function typesOf({ events }: PaymentSource): readonly string[] {
  const types = Object.entries(events).flatMap(([type, { unlistedType }]) => [
    type,
    ...(unlistedType === undefined ? [] : [unlistedType]),
  ]);
  return [...new Set(types)];
}

/** Equal for equal descriptions. */
function sourceOf(payments: PaymentSource): string {
  return sha256(JSON.stringify(payments));
}
