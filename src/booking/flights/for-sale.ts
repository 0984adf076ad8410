import type { Storage } from "../../db/storage.ts";
import { closesAfter, type Flight } from "../flight.ts";

import { seatsOnSale } from "./flights.sql.ts";

/** The seats of a flight that anybody can book now: none while the waiting list comes first. */
export async function seatsForSale(storage: Storage, id: Flight["id"], now: Date): Promise<number> {
  const [flight] = await storage.all(seatsOnSale, { id, closesAfter: closesAfter(now) });
  return flight?.seatsAvailable ?? 0;
}
