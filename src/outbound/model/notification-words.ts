/** `pending → delivered | retrying → dead`. Rescheduling a dead notification makes it pending again. */
export const notificationStatuses = ["pending", "retrying", "delivered", "dead"] as const;

/** The statuses after a failed delivery attempt. */
export const undeliveredStatuses = ["dead", "retrying"] as const;

/**
 * What became of an event's notifications: the worst of their statuses, in the order dead, retrying, pending,
 * delivered. `none`: it has no notifications.
 */
export const deliveryStates = [...notificationStatuses, "none"] as const;
