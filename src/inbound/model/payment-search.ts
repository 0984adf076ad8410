import { defineTable, type Stored } from "../../db/table.ts";

/** How far the stored events of a provider were searched for payments. */
export const paymentSearchesTable = defineTable(
  "payment_searches",
  {
    provider: "text: none",
    /** A hash of the description of where its payloads have payments. */
    source: "text: none",
    /** Events stored before this time were searched. */
    searchedUntil: "instant",
  },
  ["provider", "source"],
);

export interface PaymentSearch extends Stored<typeof paymentSearchesTable> {}
