/** The choices of the filters of events. */
export const deliveries = ["dead", "retrying", "pending", "delivered", "none"];
export const statuses = ["accepted", "ignored", "unreadable"];
