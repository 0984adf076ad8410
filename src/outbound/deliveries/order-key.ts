import type { Event, EventContent } from "../../event/event.ts";
import type { Destination } from "../model/destination.ts";

const maxOrderKeyLength = 200;

/** The value by which deliveries keep their order; null if the destination has no order or the event no value. */
export function orderKeyOf({ orderBy }: Destination, event: EventContent): string | null {
  if (orderBy === null) return null;
  const [, field = "", name] = orderBy.split(".");
  const { provider, type, subject, actor, data } = event;
  const fields: Event["data"] = { provider, type, subject, actor };
  const value =
    field === "data" ? Object.entries(data).find(([key]) => key === name)?.[1] : fields[field];
  if (value === null || value === undefined) return null;
  return `${provider}:${String(value)}`.slice(0, maxOrderKeyLength);
}

export const orderByPattern =
  /^event\.(?:provider|type|subject|actor|data\.[A-Za-z_][A-Za-z0-9_]{0,60})$/;
