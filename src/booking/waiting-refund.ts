import { defineTable } from "../db/table.ts";
import type { Event } from "../event/event.ts";
import type { PaymentNotice } from "../inbound/payment-notice.ts";

/** A refund that names no booking, and whose payment is not known yet. */
export interface WaitingRefund {
  /** The provider's event. Retention deletes both. */
  readonly eventId: Event["id"];
  readonly provider: string;
  /** The provider's id of the payment. */
  readonly reference: string;
  readonly notice: PaymentNotice;
  readonly createdAt: Date;
}

export const waitingRefundsTable = defineTable<WaitingRefund>("waiting_refunds", {
  eventId: "text",
  provider: "text",
  reference: "text",
  notice: "json",
  createdAt: "instant",
});
