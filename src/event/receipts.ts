import type { Storage } from "../db/storage.ts";

import { noReceipt, type StoredReceipt } from "./event.ts";
import { receiptAt, type receiptWithoutBodyAt } from "./events.sql.ts";

type ReceiptStatement = typeof receiptAt | typeof receiptWithoutBodyAt;

/** Reads the receipt of an event. The items of a delivery share the body and the headers of the first that was stored. */
export async function storedReceipt(
  storage: Storage,
  position: number,
  statement: ReceiptStatement = receiptAt,
): Promise<StoredReceipt> {
  const [receipt = noReceipt] = await storage.all(statement, { position });
  if (receipt.bodyOf === null) return receipt;
  const [{ body, headers } = noReceipt] = await storage.all(statement, {
    position: receipt.bodyOf,
  });
  return { ...receipt, body, headers };
}
