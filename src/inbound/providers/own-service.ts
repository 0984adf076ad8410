import { placeIn } from "../../base/ids.ts";
import type { Storage } from "../../db/storage.ts";
import { viaHeader } from "../../event/via.ts";
import { isSigned } from "../../outbound/formats/formats.ts";
import type { Destination } from "../../outbound/model/destination.ts";
import { notificationsAt } from "../../outbound/model/notifications.sql.ts";
import { hostMatches } from "../signatures/hosts.ts";

import type { Provider } from "./provider.ts";

/** Whether a destination is at the service of a provider: what is sent there can come back as an event. */
export function isAtService(
  { id, destinations = [] }: Pick<Provider, "id" | "destinations">,
  { format, url }: Pick<Destination, "format" | "url">,
): boolean {
  if (!isSigned(format) && [id, ...destinations].includes(format)) return true;
  const host = URL.parse(url)?.hostname ?? "";
  return destinations.some((pattern) => hostMatches(pattern, host));
}

/** Whether a notification of this Skyhook led to a request, perhaps through other Skyhooks. Most requests name none. */
export function isEcho(
  storage: Storage,
  header: (name: string) => string | null | undefined,
): false | Promise<boolean> {
  const named = `${header("webhook-id") ?? ""} ${header(viaHeader) ?? ""}`.slice(0, 2_000);
  const ids: readonly string[] = named.match(/\bntf_[0-9a-f]{32}\b/g) ?? [];
  const positions = ids.flatMap((id) => placeIn("ntf", id)?.position ?? []);
  if (positions.length === 0) return false;
  return storage
    .all(notificationsAt, { positions })
    .then((found) => found.some(({ id }) => ids.includes(id)));
}
