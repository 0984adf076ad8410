import { Type } from "@sinclair/typebox";

import { defineTable, personal, type Stored } from "../../db/table.ts";
import { eventFields } from "../../event/event.ts";
import type { PaymentNotice } from "../../inbound/model/payment-notice.ts";

/** Payments that name no booking, and refunds that name none, until another event says whose the payment is. */
export const waitingNoticesTable = defineTable(
  "waiting_notices",
  {
    /** The provider's event. Retention deletes both. */
    eventId: eventFields.id,
    provider: "text: none",
    /** The provider's id of the payment. */
    reference: "text: pseudonym",
    notice: personal("text", Type.Unsafe<PaymentNotice>({ type: "object" })),
    createdAt: "instant",
    /** When operators are notified that a payment names no booking; null if they were, or need not be. */
    notifyAt: "instant or null",
  },
  ["eventId"],
);

export interface WaitingNotice extends Stored<typeof waitingNoticesTable> {}
