import type { Mutant } from "../mutant.ts";

export const retention: readonly Mutant[] = [
  // Nothing is deleted too early.
  {
    name: "undelivered-deleted",
    breaks: "retention keeps events with undelivered notifications",
    changes: [
      [
        "src/gateway/retention/retention.sql.ts",
        " and ${notifications.status} <> 'delivered')",
        " and ${notifications.status} = 'pending')",
      ],
    ],
    noticedBy: [
      "test/gateway/retention/retention.test.ts",
      "deletes bodies, then events with their notifications, but keeps",
    ],
  },
  {
    name: "keys-deleted-early",
    breaks: "an idempotency key is kept for a day",
    changes: [
      [
        "src/gateway/retention/pruner.ts",
        "write(deleteExpiredKeys, { now: new Date(now), limit })",
        "write(deleteExpiredKeys, { now: new Date(now + dayMs), limit })",
      ],
    ],
    noticedBy: ["test/gateway/retention/retention.test.ts", "keeps idempotency keys for a day"],
  },
  {
    name: "audit-deleted-with-events",
    breaks: "the audit list is kept for its own time",
    changes: [
      [
        "src/gateway/retention/pruner.ts",
        "until: daysBefore(now, auditDays)",
        "until: expiredUntil(now)",
      ],
    ],
    noticedBy: ["test/gateway/retention/retention.test.ts", "after 400 days, whatever was done"],
  },
  {
    name: "deleted-after-a-clock-jump",
    breaks: "a clock that jumps forward deletes nothing for an hour",
    changes: [
      [
        "src/gateway/retention/pruner.ts",
        "if (clock.now() - nextRoundMs > jumpMs) {",
        "if (clock.now() - nextRoundMs > 1_000 * dayMs) {",
      ],
    ],
    noticedBy: [
      "test/slow/faults/clock.test.ts",
      "deletes nothing for an hour after the clock jumped forward",
    ],
  },
];
