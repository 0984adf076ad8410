import { defineTable, type Stored } from "../db/table.ts";

/** How far the stored events of a provider were searched for payments. */
export const paymentSearchesTable = defineTable("payment_searches", {
  provider: "text",
  /** A hash of the description of where its payloads have payments. */
  source: "text",
  /** Events stored before this time were searched. */
  searchedUntil: "instant",
});

export interface PaymentSearch extends Stored<typeof paymentSearchesTable> {}
