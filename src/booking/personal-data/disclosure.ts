import { defineTable, type Stored } from "../../db/table.ts";
import { prefixedId } from "../../web/schema.ts";

/** Records that someone read the personal data of a booking. */
export const disclosuresTable = defineTable("disclosures", {
  id: prefixedId("dis_"),
  bookingId: prefixedId("bk_"),
  /** Who read it. On the command line, the operating system's user. */
  actor: "text: identifies",
  reason: "text: text",
  createdAt: "instant",
});

export interface Disclosure extends Stored<typeof disclosuresTable> {}
