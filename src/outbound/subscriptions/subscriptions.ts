import type { Clock } from "../../base/clock.ts";
import { sameText } from "../../base/constant-time.ts";
import { type Context, requireOperator } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import type { MakeId } from "../../base/ids.ts";
import { AddressError } from "../../base/public-address.ts";
import type { KeyRing } from "../../base/sealing.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Audit } from "../../identity/audit/audit.ts";
import type { CallerLimiter } from "../../identity/limiter.ts";
import { overlapMs, readSecrets, sealSecrets } from "../destination-secrets.ts";
import { type Destination, hasEnded, type StoredDestination } from "../destination.ts";
import { deleteDestination, recordRecovery, updateDestination } from "../destinations.sql.ts";
import { changedMeanwhile } from "../destinations/destination-access.ts";
import { filterError } from "../destinations/destination-input.ts";
import { newDestination } from "../destinations/new-destination.ts";
import { subscriptionHeader } from "../formats/mcp.ts";
import { type AddressRules, destinationUrl } from "../transports/address.ts";

import { type CallbackError, callbackError, type Challenge } from "./challenge.ts";
import {
  endOf,
  filterOf,
  isSecret,
  type NewSubscription,
  type SubscriptionKey,
  subscriptionName,
  SubscriptionRefused,
} from "./subscription.ts";
import {
  allSubscriptions,
  deleteEnded,
  endedSubscriptions,
  insertSubscription,
  lastAttempt,
  lastSuccess,
} from "./subscriptions.sql.ts";

export interface Subscription {
  readonly id: string;
  readonly refreshBefore: Date;
  /** Null for a new one. */
  readonly deliveryStatus: {
    readonly active: boolean;
    readonly lastDeliveryAt: Date | null;
    readonly lastError: CallbackError | null;
    readonly failedSince: Date | null;
  } | null;
}

/** Events for the callbacks of agents: each subscription is a destination that ends. For operators only. */
export interface Subscriptions {
  /**
   * Makes a subscription or, if there is one with this key, refreshes it: its end and secret are replaced, and it
   * receives again if Skyhook disabled it. Throws a `SubscriptionRefused`, and `too-many-tests`.
   */
  subscribe(ctx: Context, input: NewSubscription): Promise<Subscription>;
  /** Throws a `SubscriptionRefused` of the kind `not-found`. */
  unsubscribe(ctx: Context, key: SubscriptionKey): Promise<void>;
  /** Removes those whose time is over or whose subscriber, a token for an agent, has ended. */
  removeEnded(): Promise<void>;
}

interface Parts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly rules: AddressRules;
  readonly keys: () => KeyRing;
  readonly audit: Audit;
  readonly tests: CallerLimiter;
  readonly challenge: Challenge;
  /** The provider of alerts about Skyhook itself, which only destinations for alerts receive. */
  readonly alerting: string;
  /** Called after a change was committed. */
  readonly changed: (id: Destination["id"]) => Promise<void>;
  /** The writes that go with the removal of a destination. */
  readonly removing: (id: Destination["id"]) => readonly Write<unknown>[];
}

const maxOfSubscriber = 20;
/** One event never writes more deliveries to agents than that. */
const maxLive = 200;

export function subscriptions(parts: Parts): Subscriptions {
  const { storage, clock, keys, audit } = parts;

  async function liveOf(of: string): Promise<readonly StoredDestination[]> {
    const all = await storage.all(allSubscriptions, {});
    return all.filter((one) => one.subscriber === of && !hasEnded(one, clock.now()));
  }

  /** Throws unless the endpoint wants deliveries. It is asked once for all subscriptions of a subscriber. */
  async function prove(
    ctx: Context,
    subscription: NewSubscription,
    live: readonly StoredDestination[],
  ): Promise<void> {
    const { url, secret } = subscription;
    const isProved = (one: StoredDestination) =>
      one.disabledReason === null && readSecrets(keys(), one).address === url;
    if (live.some(isProved)) return;
    parts.tests.count(ctx);
    const name = subscriptionName(subscription);
    const reason = await parts.challenge(new URL(url), secret, name);
    if (reason === null) return;
    throw new SubscriptionRefused("callback", "The callback did not pass the challenge.", {
      reason,
    });
  }

  async function create(
    ctx: Context,
    input: NewSubscription,
    live: readonly StoredDestination[],
  ): Promise<Subscription> {
    if (live.length >= maxOfSubscriber) throw noRoom(maxOfSubscriber);
    await prove(ctx, input, live);
    await removeEnded();
    const made = newOne(ctx, input);
    try {
      await storage.atomically(
        write(
          insertSubscription,
          { ...made, now: made.createdAt, maxOfSubscriber, maxLive },
          notInserted,
        ),
        audit.entry(ctx, "agent.subscribed", made.name, `${input.provider}.${input.type}`),
      );
    } catch (error) {
      if (error !== notInserted) throw error;
      const others = await liveOf(input.subscriber);
      const same = others.find(({ name }) => name === made.name);
      if (same !== undefined) return refresh(ctx, input, same, others);
      throw noRoom(others.length >= maxOfSubscriber ? maxOfSubscriber : maxLive);
    }
    await parts.changed(made.id);
    // This one, if its token was revoked during the challenge.
    await removeEnded();
    return shown(made, null);
  }

  function newOne(ctx: Context, input: NewSubscription): StoredDestination {
    const { url, secret, subscriber } = input;
    const name = subscriptionName(input);
    const headers = `${subscriptionHeader}: ${name}`;
    const filter = filterOf(input);
    const alerts = input.provider === parts.alerting;
    const fields = { name, format: "mcp", url, secret, headers, filter, alerts } as const;
    const now = clock.now();
    const expiresAt = endOf(ctx, input, now);
    return { ...newDestination(parts, fields, null, new Date(now)), subscriber, expiresAt };
  }

  async function refresh(
    ctx: Context,
    input: NewSubscription,
    stored: StoredDestination,
    live: readonly StoredDestination[],
  ): Promise<Subscription> {
    const isRevived = stored.disabledReason !== null;
    if (isRevived) await prove(ctx, input, live);
    const now = clock.now();
    const next: StoredDestination = {
      ...stored,
      ...(isRevived && { state: "active", failingSince: null, disabledReason: null }),
      sealed: sealedAgain(stored, input.secret, now),
      expiresAt: endOf(ctx, input, now),
      // Later than before, so that a concurrent change is noticed.
      updatedAt: new Date(Math.max(now, stored.updatedAt.getTime() + 1)),
    };
    await storage.atomically(
      write(updateDestination, { ...next, before: stored.updatedAt }, changedMeanwhile),
      ...(isRevived ? [write(recordRecovery, { id: stored.id })] : []),
    );
    await parts.changed(stored.id);
    return shown(next, await statusOf(next));
  }

  /** With a new secret, the one before it also signs for a while. */
  function sealedAgain(stored: StoredDestination, secret: string, now: number): Uint8Array {
    const before = readSecrets(keys(), stored);
    const { secret: old } = before;
    if (old !== null && sameText(old, secret)) return stored.sealed;
    const previous = old === null ? null : { secret: old, untilMs: now + overlapMs };
    return sealSecrets(keys(), stored.id, { ...before, secret, previous });
  }

  async function statusOf({ id: destinationId, state, failingSince }: Destination) {
    const [[attempt], [success]] = await Promise.all([
      storage.all(lastAttempt, { destinationId }),
      storage.all(lastSuccess, { destinationId }),
    ]);
    return {
      active: state === "active",
      lastDeliveryAt: success?.startedAt ?? null,
      lastError:
        attempt === undefined || attempt.delivered
          ? null
          : callbackError(attempt.responseStatus, attempt.error),
      failedSince: failingSince,
    };
  }

  /** `deletion`: changes no row if it is not to be removed any more. */
  async function remove(
    id: Destination["id"],
    deletion: Write<never>,
    ...entries: readonly Write<never>[]
  ): Promise<void> {
    await storage.atomically(deletion, ...parts.removing(id), ...entries);
    await parts.changed(id);
  }

  async function removeEnded(): Promise<void> {
    const now = new Date(clock.now());
    for (const { id } of await storage.all(endedSubscriptions, { now })) {
      await remove(id, write(deleteEnded, { id, now }, "stop"));
    }
  }

  return {
    async subscribe(ctx, input) {
      requireOperator(ctx);
      check(input, parts.rules);
      const live = await liveOf(input.subscriber);
      const name = subscriptionName(input);
      const same = live.find((each) => each.name === name);
      return same === undefined ? create(ctx, input, live) : refresh(ctx, input, same, live);
    },
    async unsubscribe(ctx, key) {
      requireOperator(ctx);
      const name = subscriptionName(key);
      const same = (await liveOf(key.subscriber)).find((each) => each.name === name);
      if (same === undefined) {
        throw new SubscriptionRefused("not-found", "There is no such subscription.", {
          kind: "subscription",
        });
      }
      const { id } = same;
      const entry = audit.entry(ctx, "agent.unsubscribed", name, `${key.provider}.${key.type}`);
      await remove(id, write(deleteDestination, { id }, "stop"), entry);
    },
    removeEnded,
  };
}

/** Throws a `SubscriptionRefused`. Whether the host may be reached, only the challenge says. */
function check(input: NewSubscription, rules: AddressRules): void {
  const { url, secret } = input;
  const broken =
    addressError(url, rules) ??
    (isSecret(secret) ? null : "The secret must be whsec_ and the base64 of 24 to 64 bytes.") ??
    (filterError(filterOf(input)) === null ? null : "The subject is too long or is not Unicode.");
  if (broken !== null) throw new SubscriptionRefused("arguments", broken);
}

function addressError(text: string, { allowsPrivate }: AddressRules): string | null {
  try {
    const { protocol } = destinationUrl(text, { allowsPrivate: true });
    return protocol === "https:" || allowsPrivate ? null : "The address must start with https://";
  } catch (error) {
    if (error instanceof AddressError) return error.message;
    throw error;
  }
}

const noRoom = (max: number) =>
  new SubscriptionRefused("limit", `There are ${max} subscriptions already. Remove one first.`, {
    limit: "subscriptions",
    max,
  });

/** Replaced by the reason before it is thrown. */
const notInserted = new AppError("unavailable", "The subscription was not stored");

function shown(
  { name: id, expiresAt }: StoredDestination,
  deliveryStatus: Subscription["deliveryStatus"],
): Subscription {
  // Guarantee: a subscription has an end.
  const refreshBefore = expiresAt as Date;
  return { id, refreshBefore, deliveryStatus };
}
