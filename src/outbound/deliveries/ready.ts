import { idAt, placeIn } from "../../base/ids.ts";
import type { Storage } from "../../db/storage.ts";
import { eventsToSend } from "../../event/events.sql.ts";
import type { Log } from "../../telemetry/log.ts";

import type { ReadyDelivery } from "./attempt.ts";
import { type ClaimedDelivery, notificationsToSend } from "./delivery-queue.sql.ts";
import type { Claim } from "./outcome.ts";

/** Reads what is sent of claimed deliveries. Logs those whose event or notification does not exist, and leaves them out. */
export async function readyFrom(
  { storage, log }: { readonly storage: Storage; readonly log: Log },
  deliveries: readonly ClaimedDelivery[],
  how: Pick<Claim, "claimedMs" | "isProbe">,
): Promise<readonly ReadyDelivery[]> {
  const positions = (of: "event" | "notification") => [
    ...new Set(deliveries.map((delivery) => delivery[of])),
  ];
  const [events, notifications] = await Promise.all([
    storage.all(eventsToSend, { positions: positions("event") }),
    storage.all(notificationsToSend, { positions: positions("notification") }),
  ]);
  const eventOf = new Map(
    events.map(({ position, headers, ...event }) => [position, { headers, event }]),
  );
  const notificationOf = new Map(
    notifications.map(({ position, ...notification }) => [position, notification]),
  );
  return deliveries.flatMap((delivery) => {
    const found = eventOf.get(delivery.event);
    const sent = notificationOf.get(delivery.notification);
    const place = found === undefined ? null : placeIn("evt", found.event.id);
    if (found === undefined || sent === undefined || place === null) {
      const fields = { position: delivery.notification };
      log.error(fields, "the notification of a delivery does not exist");
      return [];
    }
    const notification = { ...sent, id: idAt("ntf", delivery.notification, place.tail) };
    const claim = { delivery, notificationId: notification.id, ...how };
    return [{ claim, ...found, notification }];
  });
}
