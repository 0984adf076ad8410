import { Type } from "@sinclair/typebox";

import { defineTable, personal, type Stored } from "../db/table.ts";
import { eventFields } from "../event/event.ts";
import type { PaymentNotice } from "../inbound/payment-notice.ts";

/** Refunds that name no booking, and whose payments are not known yet. */
export const waitingRefundsTable = defineTable("waiting_refunds", {
  /** The provider's event. Retention deletes both. */
  eventId: eventFields.id,
  provider: "text: none",
  /** The provider's id of the payment. */
  reference: "text: pseudonym",
  notice: personal("text", Type.Unsafe<PaymentNotice>({ type: "object" })),
  createdAt: "instant",
});

export interface WaitingRefund extends Stored<typeof waitingRefundsTable> {}
