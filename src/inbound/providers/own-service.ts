import type { Storage } from "../../db/storage.ts";
import { notificationIdsIn, viaHeader } from "../../event/via.ts";
import type { Destination } from "../../outbound/destination.ts";
import { isSigned } from "../../outbound/formats/formats.ts";
import { notificationsByIds } from "../../outbound/notifications.sql.ts";
import { hostMatches } from "../signatures/hosts.ts";

import type { Provider } from "./provider.ts";

/** Whether a destination is at the service of a provider: what is sent there can come back as an event. */
export function isAtService(
  { id, destinations = [] }: Pick<Provider, "id" | "destinations">,
  { format, address }: Pick<Destination, "format" | "address">,
): boolean {
  if (!isSigned(format) && [id, ...destinations].includes(format)) return true;
  const host = URL.parse(address)?.hostname ?? "";
  return destinations.some((pattern) => hostMatches(pattern, host));
}

/** Whether a notification of this Skyhook led to a request, perhaps through other Skyhooks. */
export async function isEcho(
  storage: Storage,
  header: (name: string) => string | null | undefined,
): Promise<boolean> {
  const ids = [viaHeader, "webhook-id"].flatMap((name) => notificationIdsIn(header(name)));
  return ids.length > 0 && (await storage.all(notificationsByIds, { ids })).length > 0;
}
