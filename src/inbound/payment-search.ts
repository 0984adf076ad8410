import { defineTable } from "../db/table.ts";

/** How far the stored events of a provider were searched for payments. */
export interface PaymentSearch {
  readonly provider: string;
  /** A hash of the description of where its payloads have payments. */
  readonly source: string;
  /** Events stored before this time were searched. */
  readonly searchedUntil: Date;
}

export const paymentSearchesTable = defineTable<PaymentSearch>("payment_searches", {
  provider: "text",
  source: "text",
  searchedUntil: "instant",
});
