import { isObject, itemsAt, type JsonObject, textAt } from "../../base/payload.ts";

import { UsageError } from "./output.ts";
import { calling, type ServerOptions } from "./server-api.ts";

/** A booking on the server. */
export interface BookingOptions extends ServerOptions {
  readonly booking: string;
}

/** Calls the server's API of bookings, as an admin. */
export const bookingsAt = (server: ServerOptions, env: NodeJS.ProcessEnv) =>
  calling(server, env, { path: "/v1/api/bookings", role: "admin" });

/** The booking that an id or a reference names. Throws if the server has none. */
export async function bookingOf(
  { booking, ...server }: BookingOptions,
  env: NodeJS.ProcessEnv,
): Promise<JsonObject> {
  const call = bookingsAt(server, env);
  const page = await call("GET", `?${new URLSearchParams({ q: booking }).toString()}`);
  const [found] = itemsAt(page, "data").filter(isObject);
  const id = found === undefined ? null : textAt(found, "bookingId");
  if (id === null) throw new UsageError(`The server has no booking ${booking}`);
  return call("GET", `/${encodeURIComponent(id)}`);
}
