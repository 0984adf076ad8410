import type { Storage } from "../db/storage.ts";

import { noReceipt, type StoredEvent } from "./event.ts";
import { receiptById, type receiptWithoutBodyById } from "./events.sql.ts";

/** The receipt of an event with its body. All null for events that Skyhook creates. */
export type StoredReceipt = Omit<Pick<StoredEvent, keyof typeof noReceipt>, "bodyHash">;

type ReceiptStatement = typeof receiptById | typeof receiptWithoutBodyById;

/** Reads the receipt of an event. The items of a delivery share the body and the headers of the first that was stored. */
export async function storedReceipt(
  storage: Storage,
  id: StoredEvent["id"],
  statement: ReceiptStatement = receiptById,
): Promise<StoredReceipt> {
  const [receipt = noReceipt] = await storage.all(statement, { id });
  if (receipt.bodyOf === null) return receipt;
  const [{ body, headers } = noReceipt] = await storage.all(statement, { id: receipt.bodyOf });
  return { ...receipt, body, headers };
}
