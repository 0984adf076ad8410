import type { Clock } from "../../base/clock.ts";
import type { Context } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import { firstPositionAt, idAt, type MakeId, makeTail, placeIn } from "../../base/ids.ts";
import type { Page, PageRequest } from "../../base/page.ts";
import { paginate } from "../../db/paginate.ts";
import type { Storage } from "../../db/storage.ts";
import type { Audit } from "../../identity/audit/audit.ts";
import type { CallerLimiter } from "../../identity/limiter.ts";
import type { DestinationCache } from "../deliveries/destination-cache.ts";
import type { Outbox } from "../deliveries/outbox.ts";
import { retryDeadOf } from "../deliveries/retry-all.ts";
import { attemptsBy, attemptsTo } from "../model/attempts.sql.ts";
import { deliveryPages } from "../model/deliveries.sql.ts";
import type { DeliveryWithTitle } from "../model/delivery.ts";
import type { Destination } from "../model/destination.ts";

import type { DeliveryFilters } from "./destination-filters.ts";
import type { ListedDelivery, TestResult } from "./destination.schema.ts";
import type { Destinations } from "./destinations.ts";
import { testEvent, testNotification } from "./test-event.ts";

/** What was sent to a destination. Throws as `Destinations` for the caller's rights. */
export interface DestinationDeliveries {
  /** Newest first. */
  list(
    ctx: Context,
    destinationId: string,
    request: PageRequest,
    filters: DeliveryFilters,
    extras?: { readonly attempts: boolean },
  ): Promise<Page<ListedDelivery>>;
  /** Sends all dead deliveries again, also while the circuit is open, and closes it. Returns how many. */
  retryDead(ctx: Context, destinationId: string): Promise<{ readonly retried: number }>;
  /** Sends a notification that is not stored, and returns the answer. A success closes the circuit. Throws `too-many-tests`. */
  test(ctx: Context, destinationId: string): Promise<TestResult>;
}

interface Parts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly destinations: Destinations;
  readonly cache: DestinationCache;
  readonly outbox: Outbox;
  readonly audit: Audit;
  readonly tests: CallerLimiter;
  readonly closeCircuit: (id: Destination["id"]) => Promise<void>;
}

/** Attempts shown per delivery. */
const maxAttempts = 20;

export function destinationDeliveries(parts: Parts): DestinationDeliveries {
  const { storage, clock, destinations, cache, outbox, audit, tests, makeId } = parts;

  async function withAttempts(
    destinationId: Destination["id"],
    { data, pagination }: Page<DeliveryWithTitle>,
  ): Promise<Page<ListedDelivery>> {
    const notifications = data.flatMap(
      ({ notificationId }) => placeIn("ntf", notificationId)?.position ?? [],
    );
    const attempts = await attemptsBy(storage, attemptsTo, { destinationId, notifications });
    const byId = Map.groupBy(attempts, ({ notificationId }) => notificationId);
    const listed = data.map((delivery) => ({
      ...delivery,
      attempts: (byId.get(delivery.notificationId) ?? []).slice(-maxAttempts),
    }));
    return { data: listed, pagination };
  }

  return {
    async list(ctx, id, request, filters, extras) {
      const { id: destinationId } = await destinations.read(ctx, id);
      const pages = deliveryPages(storage, { destinationId, ...filters });
      const page = await paginate(pages, request);
      return extras?.attempts === true ? withAttempts(destinationId, page) : page;
    },
    async retryDead(ctx, id) {
      const { id: destinationId } = await destinations.readToChange(ctx, id);
      await storage.atomically(audit.entry(ctx, "destination.retried", destinationId));
      const retried = await retryDeadOf(parts, { destinationId, which: () => true });
      await parts.closeCircuit(destinationId);
      outbox.rescheduled(destinationId);
      return { retried };
    },
    async test(ctx, id) {
      const { id: destinationId } = await destinations.readToChange(ctx, id);
      const cached = cache.find(destinationId);
      if (cached === undefined) throw new AppError("not-found", "No destination has this id");
      tests.count(ctx);
      const now = clock.now();
      // No event is stored there: it would be the last of 1,024 in a millisecond.
      const position = firstPositionAt(now + 1) - 1;
      const event = testEvent(idAt("evt", position, makeTail()), now);
      const { createdAt } = event;
      const notification = { ...testNotification(event), id: makeId("ntf", now), createdAt };
      const started = performance.now();
      const { signal } = new AbortController();
      const result = await cached.send([{ notification, event }], null, signal);
      const { delivered, responseStatus, error } = result;
      if (delivered) await parts.closeCircuit(destinationId);
      const durationMs = Math.round(performance.now() - started);
      return { delivered, responseStatus, error, durationMs };
    },
  };
}
