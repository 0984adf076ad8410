import { bookingsProvider } from "../model/booking-words.ts";
import type { Payment } from "../model/payment.ts";

type Report = Pick<
  Payment,
  "provider" | "reference" | "outcome" | "amountMinor" | "currency" | "occurredAt"
>;

/** The refunds of one payment. */
interface Refunds {
  netMinor: number;
  /** What failed before its refund was reported, in the second `failedAtMs`. */
  failedMinor: number;
  failedAtMs: number;
}

/**
 * What was refunded in all, in minor units. Each report has the sum of all refunds of its payment that had not failed by then,
 * so reports count in the order in which they were made, not received. Of those that cannot be ordered, the highest counts.
 * An admin's record may be of the same money.
 */
export function refundedSum(reports: readonly Report[], currency: Payment["currency"]): number {
  const payments = new Map<string, Refunds>();
  let totalMinor = 0;
  const inOrder = reports
    .filter((report) => report.currency === currency)
    .toSorted((one, other) => one.occurredAt.getTime() - other.occurredAt.getTime());
  for (const { provider, reference, outcome, amountMinor, occurredAt } of inOrder) {
    const minor = amountMinor ?? 0;
    const atMs = occurredAt.getTime();
    if (outcome === "corrected") {
      lower(payments, minor);
      totalMinor = Math.min(totalMinor, minor);
    } else if (outcome === "refunded" && provider === bookingsProvider) {
      totalMinor = Math.max(totalMinor, minor);
    } else if (outcome === "refunded" || outcome === "refund_failed") {
      const refunds = refundsOf(payments, JSON.stringify([provider, reference]));
      if (outcome === "refunded") {
        // Providers say times in seconds: a refund of the same second may be the one that failed.
        const early = refunds.failedAtMs === atMs ? refunds.failedMinor : 0;
        refunds.failedMinor = 0;
        refunds.netMinor = Math.max(refunds.netMinor, minor - early);
        totalMinor = Math.max(totalMinor, sumOf(payments));
      } else {
        const counted = Math.min(refunds.netMinor, minor);
        refunds.netMinor -= counted;
        totalMinor = Math.max(0, totalMinor - counted);
        refunds.failedMinor = minor - counted;
        refunds.failedAtMs = atMs;
      }
    }
  }
  return totalMinor;
}

function refundsOf(payments: Map<string, Refunds>, key: string): Refunds {
  const refunds = payments.get(key) ?? { netMinor: 0, failedMinor: 0, failedAtMs: 0 };
  payments.set(key, refunds);
  return refunds;
}

function sumOf(payments: ReadonlyMap<string, Refunds>): number {
  return [...payments.values()].reduce((sum, { netMinor }) => sum + netMinor, 0);
}

/** An admin says that no more than this was refunded. */
function lower(payments: ReadonlyMap<string, Refunds>, toMinor: number): void {
  for (const refunds of payments.values()) {
    const surplus = Math.max(0, sumOf(payments) - toMinor);
    refunds.netMinor -= Math.min(refunds.netMinor, surplus);
  }
}
