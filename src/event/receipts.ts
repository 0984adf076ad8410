import type { Storage } from "../db/storage.ts";

import { noReceipt, type StoredEvent } from "./event.ts";
import { receiptById, receiptWithoutBodyById } from "./events.sql.ts";

/** The receipt of an event with its body. All null for events that Skyhook creates. */
export type StoredReceipt = Omit<Pick<StoredEvent, keyof typeof noReceipt>, "bodyHash">;

/** Reads the receipt of an event. The items of a delivery share the body and the headers of the first that was stored. */
export async function storedReceipt(
  storage: Storage,
  id: StoredEvent["id"],
  read: ReadReceipt = withBody,
): Promise<StoredReceipt> {
  const receipt = await read(storage, id);
  if (receipt.bodyOf === null) return receipt;
  const { body, headers } = await read(storage, receipt.bodyOf);
  return { ...receipt, body, headers };
}

/** The same without the body. */
export const receiptWithoutBody = (storage: Storage, id: StoredEvent["id"]) =>
  storedReceipt(storage, id, withoutBody);

type ReadReceipt = (storage: Storage, id: StoredEvent["id"]) => Promise<StoredReceipt>;

const withBody: ReadReceipt = async (storage, id) => {
  const [receipt = noReceipt] = await storage.all(receiptById, { id });
  return receipt;
};

const withoutBody: ReadReceipt = async (storage, id) => {
  const [receipt = noReceipt] = await storage.all(receiptWithoutBodyById, { id });
  return { ...receipt, body: null };
};
