import type { Storage } from "../db/storage.ts";

import { noReceipt, type StoredEvent } from "./event.ts";
import { receiptById } from "./events.sql.ts";

/** The receipt of an event with its body. All null for events that Skyhook creates. */
export type StoredReceipt = Omit<Pick<StoredEvent, keyof typeof noReceipt>, "bodyHash">;

/** Reads the receipt of an event. The items of a delivery share the body and the headers of the first that was stored. */
export async function storedReceipt(
  storage: Storage,
  id: StoredEvent["id"],
): Promise<StoredReceipt> {
  const [receipt = noReceipt] = await storage.all(receiptById, { id });
  if (receipt.bodyOf === null) return receipt;
  const [{ body, headers } = noReceipt] = await storage.all(receiptById, { id: receipt.bodyOf });
  return { ...receipt, body, headers };
}
